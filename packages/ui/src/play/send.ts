import type { TraceEvent } from '@portico/gateway/admin-api'
import type { SendCall, SendEnd, SendEvent } from '@portico/gateway/admin-send'
import { call } from '../api/client.ts'
import { EventReader } from '../api/event-reader.ts'

/** A request that was sent through the gateway, and what came of it so far. */
export interface Sent {
  readonly call: SendCall
  readonly status: number | null
  readonly headers: readonly (readonly [string, string])[]
  readonly text: string
  /** Some of it was no text. */
  readonly isBinary: boolean
  readonly trace: readonly TraceEvent[]
  /** Null while it goes on. */
  readonly end: SendEnd | null
}

export interface SendOptions {
  readonly signal?: AbortSignal
  /** Hears of each piece of the body, once it is added. */
  readonly onText?: (text: string, sent: Sent) => void
}

export type Sender = (call: SendCall, options?: SendOptions) => Promise<Sent>

/** Sends it; ends with the answer. Throws where the gateway did not even try. */
export async function send(request: SendCall, { signal, onText }: SendOptions = {}): Promise<Sent> {
  const response = await call('/api/send', { method: 'POST', body: request, ...(signal !== undefined && { signal }) })
  if (response.body === null) throw new Error('the gateway gave no answer')
  const events = new EventReader()
  let sent = begun(request)
  for await (const text of streamOf(response.body)) {
    for (const data of events.read(text)) {
      const event = JSON.parse(data) as SendEvent
      sent = took(sent, event)
      if (event.type === 'body' && 'text' in event) onText?.(event.text, sent)
    }
  }
  if (sent.end === null) throw new Error('the gateway went away in the middle of the answer')
  return sent
}

export function begun(request: SendCall): Sent {
  return { call: request, status: null, headers: [], text: '', isBinary: false, trace: [], end: null }
}

export function took(sent: Sent, event: SendEvent): Sent {
  switch (event.type) {
    case 'head':
      return { ...sent, status: event.status, headers: event.headers }
    case 'body':
      return 'text' in event ? { ...sent, text: sent.text + event.text } : { ...sent, isBinary: true }
    case 'trace':
      return { ...sent, trace: [...sent.trace, event.event] }
    case 'end':
      return { ...sent, end: event }
  }
}

export function headerOf({ headers }: Pick<Sent, 'headers'>, name: string): string | null {
  return headers.find(([each]) => each === name)?.[1] ?? null
}

/** Browsers do not all iterate over streams. */
async function* streamOf(body: NonNullable<Response['body']>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
