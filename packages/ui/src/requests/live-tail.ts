import type { RequestBatch } from '@portico/gateway/admin-api'
import { call, RefusedCall } from '../api/client.ts'
import { EventReader } from '../api/event-reader.ts'

export type TailState = 'connecting' | 'live' | 'lost'

interface TailOptions {
  parameters: URLSearchParams
  onBatch: (batch: RequestBatch) => void
  /** `problem` is the text of the gateway when it refused the call; else null. */
  onState: (state: TailState, problem: string | null) => void
}

/** `followRequests` reads live requests and reconnects when the connection is lost. It returns a function that stops it. */
export function followRequests({ parameters, onBatch, onState }: TailOptions): () => void {
  const stop = new AbortController()
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      onState('connecting', null)
      try {
        await readOnce(parameters, stop.signal, onBatch, () => onState('live', null))
      } catch (error) {
        if (stop.signal.aborted) return
        // Asking again would not help.
        if (error instanceof RefusedCall && error.status < 500) return onState('lost', error.message)
      }
      if (!stop.signal.aborted) onState('lost', null)
      await pause(AGAIN_MS, stop.signal)
    }
  }
  void follow()
  return () => stop.abort()
}

async function readOnce(
  parameters: URLSearchParams,
  signal: AbortSignal,
  onBatch: TailOptions['onBatch'],
  onOpen: () => void,
): Promise<void> {
  const { body } = await call(`/api/requests/stream?${parameters.toString()}`, { signal })
  if (body === null) return
  onOpen()
  const events = new EventReader()
  const texts = body.pipeThrough(new TextDecoderStream()).getReader()
  for (let read = await texts.read(); !read.done; read = await texts.read()) {
    for (const data of events.read(read.value)) onBatch(JSON.parse(data) as RequestBatch)
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const AGAIN_MS = 1500
