import type { IncomingMessage } from 'node:http'
import { type Reply, text } from '../http.ts'
import { readJson } from '../read-json.ts'
import type { RequestsSource } from '../requests.ts'
import type { TraceSource } from '../trace.ts'
import { checkCall } from './check-call.ts'
import type { ListenerSource } from './reachable-listener.ts'
import { Sending, type SendLimits } from './sending.ts'

interface SendParts {
  readonly config: ListenerSource
  readonly requests: Pick<RequestsSource, 'list'>
  readonly trace: TraceSource
}

/**
 * Sends requests from the web UI and the admin API to listeners of this process. No field of a call chooses an
 * address.
 */
export function createSendAnswer(parts: SendParts, limits = LIMITS): (request: IncomingMessage) => Promise<Reply> {
  let open = 0
  return async (request) => {
    const read = await readJson(request, MAX_CALL)
    if ('refused' in read) return read.refused
    const call = checkCall(read.value)
    if (typeof call === 'string') return text(400, `${call}\n`)
    const listener = parts.config.findListener(call.bind, call.listener)
    if (typeof listener === 'string') return text(400, `${listener}\n`)
    if (open >= MOST_AT_ONCE) return text(503, 'too many requests are being sent\n')
    return {
      status: 200,
      type: 'text/event-stream',
      headers: { 'cache-control': 'no-cache' },
      body: (stream) => {
        open++
        stream.keepAlive()
        const sending = new Sending(call, listener, { ...parts, limits })
        void sending.run(stream).finally(() => open--)
        return () => sending.stop()
      },
    }
  }
}

const LIMITS: SendLimits = { maxBytes: 16 * 1024 * 1024, timeoutMs: 10 * 60_000, recordMs: 1000 }
/** The largest call in bytes, with the body to send. */
const MAX_CALL = 8 * 1024 * 1024
const MOST_AT_ONCE = 16
