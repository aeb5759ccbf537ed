import type { IncomingMessage } from 'node:http'
import type { Explanation } from '../findings/explanation.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import type { GatewayState, RequestBatch, RequestList, RequestRecord } from '../telemetry/recorder/record.ts'
import { FILTER_PARAMETERS, type RecordFilter } from '../telemetry/recorder/record-filter.ts'
import type { AdminCaller } from './credentials.ts'
import type { EventStream } from './event-stream.ts'
import { pathOf, queryOf, type Reply, text } from './http.ts'
import { later } from './json-reply.ts'

/** One sentence about a record, bounded in length and time. */
export type HeadlineOf = (record: RequestRecord) => string

/** The source of records, which the main thread provides. */
export interface RequestsSource {
  state(): Omit<GatewayState, 'access'>
  /** A text says what is wrong with the query. */
  filter(query: URLSearchParams): RecordFilter | string
  /** `before` is the `next` of a list; null when it is none. */
  list(
    filter: RecordFilter,
    page: { limit: number; before: string | null; headlineOf?: HeadlineOf | null },
  ): RequestList | null
  /** Newest first. */
  download(filter: RecordFilter): Iterable<RequestRecord>
  get(id: string): RequestRecord | null
  events(record: RequestRecord): TraceEvent[]
  /** Why it was decided as it was. */
  explain(record: RequestRecord): Promise<Explanation>
  /** The function that writes headlines of lists, loaded at its first use. */
  headlines(): Promise<HeadlineOf>
  /** Calls `told` with new records, at most ten times a second; null when the number of listeners is at its limit. */
  follow(filter: RecordFilter, headlineOf: HeadlineOf | null, told: (batch: RequestBatch) => void): (() => void) | null
}

interface ApiRoute {
  readonly path: string
  readonly summary: string
}

/** The endpoints, as the start page of the admin server lists them. */
export const API_ROUTES: readonly ApiRoute[] = [
  { path: '/api/state', summary: 'the running version and config, and how much is recorded' },
  { path: '/api/requests', summary: 'requests, newest first; ?status=, ?outcome=, ?route= and others filter' },
  { path: '/api/requests/stream', summary: 'requests as they end, as a stream of events' },
  { path: '/api/requests/download', summary: 'all requests with their details, as JSON Lines' },
  { path: '/api/requests/{id}', summary: 'one request with its details' },
  { path: '/api/requests/{id}/events', summary: 'one request as the events of a trace' },
  {
    path: '/api/requests/{id}/explain',
    summary: 'why the request was decided as it was, by which part of the config, and what would have passed',
  },
  { path: '/api/requests/{id}/capsule', summary: 'one request with all that decided it, to replay it elsewhere' },
]

/** Null for a path that is none of them. */
export function answerApi(
  request: IncomingMessage,
  source: RequestsSource,
  { token, scope }: AdminCaller,
): Reply | Promise<Reply> | null {
  const path = pathOf(request) ?? ''
  const query = queryOf(request)
  switch (path) {
    case '/api/state':
      return known(query, []) ?? json({ ...source.state(), access: { token, scope } } satisfies GatewayState)
    case '/api/requests':
      return (
        known(query, [...FILTER_PARAMETERS, 'headline', 'limit', 'before']) ??
        withHeadlines(query, source, (headlineOf) => list(query, source, headlineOf))
      )
    case '/api/requests/stream':
      return (
        known(query, [...FILTER_PARAMETERS, 'headline']) ??
        withHeadlines(query, source, (headlineOf) => stream(request, { query, source, headlineOf }))
      )
    case '/api/requests/download':
      return known(query, FILTER_PARAMETERS) ?? download(query, source)
  }
  const [, id, part] = /^\/api\/requests\/([0-9a-z]{1,32})(\/events|\/explain)?$/.exec(path) ?? []
  if (id === undefined) return null
  const record = source.get(id)
  if (record === null) return text(404, `no record ${id}: it never existed, or newer records replaced it\n`)
  const refused = known(query, [])
  if (refused !== null) return refused
  if (part === '/explain') return later(source.explain(record))
  return json(part === undefined ? record : source.events(record))
}

function withHeadlines(
  query: URLSearchParams,
  source: RequestsSource,
  answer: (headlineOf: HeadlineOf | null) => Reply,
): Reply | Promise<Reply> {
  const wanted = query.get('headline') ?? 'false'
  if (wanted !== 'true' && wanted !== 'false') return text(400, 'headline: expected true or false\n')
  return wanted === 'true' ? source.headlines().then(answer) : answer(null)
}

function list(query: URLSearchParams, source: RequestsSource, headlineOf: HeadlineOf | null): Reply {
  const filter = source.filter(query)
  if (typeof filter === 'string') return text(400, `${filter}\n`)
  const limit = query.get('limit') ?? String(DEFAULT_LIMIT)
  if (!/^[0-9]{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT) {
    return text(400, `limit: expected a number from 1 to ${MAX_LIMIT}\n`)
  }
  const found = source.list(filter, { limit: Number(limit), before: query.get('before'), headlineOf })
  return found === null ? text(400, 'before: expected the `next` of a list\n') : json(found)
}

function download(query: URLSearchParams, source: RequestsSource): Reply {
  const filter = source.filter(query)
  if (typeof filter === 'string') return text(400, `${filter}\n`)
  const headers = { 'content-disposition': 'attachment; filename="requests.jsonl"' }
  return { status: 200, type: 'application/jsonl', headers, body: lines(source.download(filter)) }
}

function* lines(records: Iterable<RequestRecord>): Iterable<string> {
  for (const record of records) yield `${JSON.stringify(record)}\n`
}

interface StreamQuestion {
  readonly query: URLSearchParams
  readonly source: RequestsSource
  readonly headlineOf: HeadlineOf | null
}

function stream(request: IncomingMessage, { query, source, headlineOf }: StreamQuestion): Reply {
  // A page of another site could not read the stream, but it could occupy the limited number of listeners.
  const site = request.headers['sec-fetch-site'] ?? 'none'
  if (site !== 'none' && site !== 'same-origin') return text(403, 'origin not allowed\n')
  const filter = source.filter(query)
  if (typeof filter === 'string') return text(400, `${filter}\n`)
  const told = { current: (_batch: RequestBatch): void => {} }
  const leave = source.follow(filter, headlineOf, (batch) => told.current(batch))
  if (leave === null) return text(503, 'too many streams of requests are open\n')
  if (request.method === 'HEAD') {
    leave()
    return { status: 200, type: 'text/event-stream', body: '' }
  }
  return {
    status: 200,
    type: 'text/event-stream',
    headers: { 'cache-control': 'no-cache' },
    body: (open: EventStream) => {
      told.current = keepingUp(open)
      open.comment('ready')
      open.keepAlive()
      return leave
    },
  }
}

/** Nothing waits for a client: one that does not read hears later how many it has missed. */
function keepingUp(open: EventStream): (batch: RequestBatch) => void {
  let missed = 0
  return (batch) => {
    if (open.isFull) {
      missed += batch.requests.length + batch.omitted
      return
    }
    open.data({ ...batch, omitted: batch.omitted + missed })
    missed = 0
  }
}

function known(query: URLSearchParams, names: readonly string[]): Reply | null {
  for (const name of query.keys()) {
    if (!names.includes(name)) {
      const choice = names.length === 0 ? 'none' : names.map((each) => `?${each}=`).join(', ')
      return text(400, `unknown parameter ${JSON.stringify(name)}, expected ${choice}\n`)
    }
  }
  return null
}

function json(value: unknown): Reply {
  return { status: 200, type: 'application/json', body: `${JSON.stringify(value)}\n` }
}

const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000
