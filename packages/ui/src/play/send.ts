import type { TraceEvent } from '@portico/gateway/admin-api'
import type { SendCall, SendEnd, SendEvent } from '@portico/gateway/admin-send'
import { call } from '../api/client.ts'
import { EventReader } from '../api/event-reader.ts'

/** A request that was sent through the gateway, with its response so far. */
export interface SentRequest {
  readonly call: SendCall
  readonly status: number | null
  readonly headers: readonly (readonly [string, string])[]
  readonly text: string
  /** Whether parts of the body were binary. */
  readonly isBinary: boolean
  readonly trace: readonly TraceEvent[]
  /** Null until the response has ended. */
  readonly end: SendEnd | null
}

interface SendOptions {
  readonly signal?: AbortSignal
  /** Called with each piece of the body. */
  readonly onText?: (text: string, sent: SentRequest) => void
}

export type Sender = (call: SendCall, options?: SendOptions) => Promise<SentRequest>

/** `send` resolves when the response has ended. It throws when the gateway did not send the request. */
export async function send(request: SendCall, { signal, onText }: SendOptions = {}): Promise<SentRequest> {
  const response = await call('/api/send', { method: 'POST', body: request, ...(signal !== undefined && { signal }) })
  if (response.body === null) throw new Error('The gateway sent no response')
  const events = new EventReader()
  let sent = begun(request)
  for await (const text of streamOf(response.body)) {
    for (const data of events.read(text)) {
      const event = JSON.parse(data) as SendEvent
      sent = took(sent, event)
      if (event.type === 'body' && 'text' in event) onText?.(event.text, sent)
    }
  }
  if (sent.end === null) throw new Error('The connection to the gateway was lost during the response')
  return sent
}

export function begun(request: SendCall): SentRequest {
  return { call: request, status: null, headers: [], text: '', isBinary: false, trace: [], end: null }
}

function took(sent: SentRequest, event: SendEvent): SentRequest {
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

export function headerOf({ headers }: Pick<SentRequest, 'headers'>, name: string): string | null {
  return headers.find(([each]) => each === name)?.[1] ?? null
}

/** The texts of a stream. Not all browsers can iterate over streams. */
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
