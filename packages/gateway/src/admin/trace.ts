import type { IncomingMessage } from 'node:http'
import { LAST_EVENT, type TraceEvent } from '../telemetry/trace/trace-event.ts'
import type { TraceClient } from '../telemetry/trace/trace-hub.ts'
import type { EventStream } from './event-stream.ts'
import { queryOf, type Reply, text } from './http.ts'

/** The source of traces, which the main thread provides. */
export interface TraceSource {
  /** Whether the limit of watchers is reached. */
  readonly isFull: boolean
  /** The problem with the expression, or null. */
  check(expression: string): string | null
  /** Watches for one request; the returned function says that the client has left. */
  watch(expression: string | null, client: TraceClient): () => void
}

/** Streams the events of the next request, or of the next one for which `?expression=` is true. */
export function answerTrace(request: IncomingMessage, source: TraceSource): Reply {
  // A page of another site could not read the stream, but it could take the requests that others wait for.
  const site = request.headers['sec-fetch-site'] ?? 'none'
  if (site !== 'none' && site !== 'same-origin') return text(403, 'origin not allowed\n')
  const query = queryOf(request)
  for (const name of query.keys()) {
    if (name !== 'expression') return text(400, `unknown parameter ${JSON.stringify(name)}\n${USAGE}`)
  }
  const [expression = null, second] = query.getAll('expression')
  if (second !== undefined) return text(400, `only one expression can be given\n${USAGE}`)
  const problem = expression === null ? null : source.check(expression)
  if (problem !== null) return text(400, `invalid expression: ${problem}\n`)
  if (source.isFull) return text(503, 'too many traces wait for requests\n')
  return {
    status: 200,
    type: 'text/event-stream',
    headers: { 'cache-control': 'no-cache' },
    body: (stream) => source.watch(expression, new StreamClient(stream)),
  }
}

const USAGE = 'usage: POST /debug/trace[?expression=<CEL>]\n'

/** Traffic waits for no client: one that does not keep up loses events, and hears how many. */
class StreamClient implements TraceClient {
  readonly #stream: EventStream
  #lost = 0

  constructor(stream: EventStream) {
    this.#stream = stream
  }

  ready(): void {
    this.#stream.comment('ready')
    this.#stream.keepAlive()
  }

  event(event: TraceEvent): void {
    // The last event is always sent, because it is the only one that says how the request ended.
    if (this.#stream.isFull && event.message.type !== LAST_EVENT) {
      this.#lost++
      return
    }
    if (this.#lost > 0) this.#stream.data(dropped(this.#lost, event.eventEnd))
    this.#lost = 0
    this.#stream.data(event)
  }

  end(): void {
    this.#stream.end()
  }
}

function dropped(count: number, at: number): TraceEvent {
  return { eventStart: null, eventEnd: at, severity: 'warn', message: { type: 'dropped', count } }
}
