import type { TraceEvent } from '@portico/gateway/admin-api'
import { call } from '../api/client.ts'
import { EventReader } from '../api/event-reader.ts'

interface TraceWatcher {
  /** Called when all workers trace: the next matching request is not missed. */
  onReady: () => void
  onEvent: (event: TraceEvent) => void
}

/** `watchTrace` resolves when the traced request has ended. */
export async function watchTrace(
  expression: string,
  signal: AbortSignal,
  { onReady, onEvent }: TraceWatcher,
): Promise<void> {
  const query = expression.trim() === '' ? '' : `?${new URLSearchParams({ expression }).toString()}`
  const response = await call(`/debug/trace${query}`, { signal })
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const events = new EventReader()
  let isReady = false
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    // The stream begins with a comment, which says that all workers trace.
    if (!isReady) onReady()
    isReady = true
    for (const data of events.read(value)) onEvent(JSON.parse(data) as TraceEvent)
  }
}
