import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { TestContext } from 'node:test'
import type { TraceEvent } from '../../telemetry/trace/trace-event.ts'

/** A client of `/debug/trace`. */
interface TraceStream {
  status: number
  /** Everything received so far. */
  text(): string
  /** Resolves with the events when the stream is over. */
  events: Promise<TraceEvent[]>
  leave(): void
}

/** Opens a stream; a good one is returned when it is ready, a refused one at its end. */
export async function useTrace(t: TestContext, admin: string, expression?: string): Promise<TraceStream> {
  const query = expression === undefined ? '' : `?expression=${encodeURIComponent(expression)}`
  const sent = request(`${admin}/debug/trace${query}`, { method: 'POST', agent: false })
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  t.after(() => response.destroy())
  response.setEncoding('utf8')
  let received = ''
  const over = Promise.withResolvers<TraceEvent[]>()
  const ready = Promise.withResolvers<void>()
  response.on('data', (chunk: string) => {
    received += chunk
    if (received.startsWith(': ready\n\n')) ready.resolve()
  })
  response.on('error', () => {})
  response.on('close', () => {
    ready.resolve()
    over.resolve(eventsOf(received))
  })
  await ready.promise
  return {
    status: response.statusCode ?? 0,
    text: () => received,
    events: over.promise,
    leave: () => response.destroy(),
  }
}

function eventsOf(text: string): TraceEvent[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map((frame) => JSON.parse(frame[1]!) as TraceEvent)
}

/** The path of the request that the events tell of. */
export function tracedPath(events: readonly TraceEvent[]): string {
  const snapshot = events.find(({ message }) => message.type === 'requestSnapshot')
  return (snapshot?.message['requestState'] as { request: { path: string } } | undefined)?.request.path ?? ''
}

export function types(events: readonly TraceEvent[]): string[] {
  return events.map(({ message }) => (typeof message['stage'] === 'string' ? message['stage'] : message.type))
}

/** The events of the spec in order, snapshots by their stage; others may stand between. */
export const TRACE_ORDER: readonly string[] = [
  'requestStarted',
  'initial request',
  'gateway policies',
  'routeSelection',
  'policySelection',
  'route policies',
  'final request',
  'backendCallStart',
  'backendCallResult',
  'backend response ready',
  'final response',
  'requestFinished',
]
