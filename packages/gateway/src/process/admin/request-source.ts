import { bool, check } from '@portico/cel/check'
import type { HeadlineOf, RequestsSource } from '../../admin/requests.ts'
import type { Ir } from '../../ir/resources.ts'
import type { ExplainedConfig } from '../../explain/explain.ts'
import type { OtherRecords } from '../../findings/other-records.ts'
import type { Locate } from '../../sources/file.ts'
import { compileExpression, environmentFor } from '../../pipeline/expression/expression.ts'
import { gatewayName, type ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'
import { recordScope } from '../../pipeline/views/record-scope.ts'
import { summaryOf } from '../../telemetry/recorder/decode.ts'
import { isMeant, readFilter, takesAll, type RecordFilter } from '../../telemetry/recorder/record-filter.ts'
import type { RecordDisk } from '../../telemetry/recorder/record-disk.ts'
import { RecordFollowers } from '../../telemetry/recorder/record-followers.ts'
import type { Explanation } from '../../findings/explanation.ts'
import type { GatewayState, ListedRequest, RequestRecord, RequestSummary } from '../../telemetry/recorder/record.ts'
import { newestFirst, type RecordStore, type StoredRecord } from '../../telemetry/recorder/record-store.ts'
import { rebuildEvents } from '../../telemetry/recorder/rebuild-events.ts'
import { problemText } from './problem-text.ts'
import { recorderConfig } from '../telemetry/recorder-sizes.ts'

export interface RequestSourceParts {
  store: RecordStore
  /** The records on disk; null when records are kept in memory only. */
  disk: () => RecordDisk | null
  identity: ProxyIdentity
  currentIr: () => Ir | null
  /** The state of the gateway, without the part of the recorder. */
  state: () => Omit<GatewayState, 'recorder' | 'requestsPerSecond' | 'access'>
  /** The config that decided the request, if it is still stored; without locations when the config has no file. */
  explained: (record: RequestRecord) => ExplainedParts
  clock?: () => number
}

export interface ExplainedParts extends Omit<ExplainedConfig, 'locate'> {
  locate: Locate | null
}

/** Records as the admin server shows them. */
export function createRequestsSource(parts: RequestSourceParts): RequestsSource {
  const { store, disk, identity, currentIr, clock = Date.now } = parts
  const followers = new RecordFollowers(store)
  const compile = expressionCompiler(identity)

  /** The time before which records are not listed. */
  function oldest(): number {
    const ir = currentIr()
    const retention = ir === null ? undefined : recorderConfig(ir).retention
    return retention === undefined ? 0 : clock() - retention
  }

  function* chosen(filter: RecordFilter): Iterable<RequestRecord> {
    const from = Math.max(oldest(), filter.since ?? 0)
    for (const stored of newestRecords(store, disk())) {
      if (stored.at < from) return
      const record = stored.decode()
      if (record !== null && isMeant(filter, record)) yield record
    }
  }

  return {
    state: () => ({ ...parts.state(), ...recorded(store, disk(), oldest(), clock()) }),
    filter: (query) => readFilter(query, clock(), compile),
    list(filter, { limit, before, headlineOf = null }) {
      const summarize = summarizer(headlineOf)
      const place = before === null ? null : parseCursor(before)
      if (before !== null && place === null) return null
      const requests: ListedRequest[] = []
      for (const record of chosen(filter)) {
        if (place !== null && !isBehind(record, place)) continue
        if (requests.length === limit) return { requests, next: cursorOf(requests.at(-1)) }
        requests.push(summarize(record))
      }
      return { requests, next: null }
    },
    download: chosen,
    get(id) {
      const record = store.find(id) ?? onDisk(disk(), id)
      return record === null || record.at < oldest() ? null : record
    },
    events: (record) => rebuildEvents(record, identity),
    explain(record) {
      const others: OtherRecords = {
        between: (since, until) => chosen({ since, until, matches: [] }),
        completeSince: Math.max(disk() === null ? store.forgottenBefore : 0, oldest()),
      }
      return explained(record, parts.explained(record), { others, gateway: gatewayName(identity) })
    },
    // The code that explains is loaded at the first question.
    headlines: async () => (await import('../../explain/explain.ts')).headlineOf,
    follow: (filter, headlineOf, told) =>
      followers.follow({
        matches: takesAll(filter) ? null : (record) => isMeant(filter, record),
        summarize: summarizer(headlineOf),
        told,
      }),
  }
}

function summarizer(headlineOf: HeadlineOf | null): (record: RequestRecord) => ListedRequest {
  return headlineOf === null ? summaryOf : (record) => ({ ...summaryOf(record), headline: headlineOf(record) })
}

/** The code that explains is loaded at the first question. */
async function explained(
  record: RequestRecord,
  { locate, ...config }: ExplainedParts,
  { others, gateway }: { others: OtherRecords; gateway: string },
): Promise<Explanation> {
  const [{ explain }, { resourceLocations }] = await Promise.all([
    import('../../explain/explain.ts'),
    import('../../explain/resource-locations.ts'),
  ])
  return explain(record, { ...config, locate: locate ?? resourceLocations(config.ir, gateway) }, others)
}

/** Iterates over the records, newest first. Files are read only once the records in memory are exhausted. */
/** Returns the records in memory and on disk, the newest first. */
export function* newestRecords(store: RecordStore, disk: RecordDisk | null): Iterable<StoredRecord> {
  const inMemory = store.all()
  if (disk === null) return yield* inMemory
  const complete = store.completeSince
  const older = inMemory.findIndex(({ at }) => at < complete)
  const recent = older === -1 ? inMemory : inMemory.slice(0, older)
  yield* recent
  const known = new Set(inMemory.map(({ id }) => id))
  const others = disk.read().filter(({ id }) => !known.has(id))
  yield* [...inMemory.slice(recent.length), ...others].sort(newestFirst)
}

function onDisk(disk: RecordDisk | null, id: string): RequestRecord | null {
  return (
    disk
      ?.read()
      .find((stored) => stored.id === id)
      ?.decode() ?? null
  )
}

interface RecordCursor {
  at: number
  id: string
}

/** Requests that began at the same time are ordered by id. */
function isBehind(record: RequestSummary, { at, id }: RecordCursor): boolean {
  return record.at < at || (record.at === at && record.id < id)
}

function cursorOf(last: RequestSummary | undefined): string | null {
  return last === undefined ? null : `${last.at}-${last.id}`
}

function parseCursor(cursor: string): RecordCursor | null {
  const [, at, id] = /^([0-9]{1,16}(?:\.[0-9]{1,16})?)-([0-9a-z]{15})$/.exec(cursor) ?? []
  return at === undefined || id === undefined ? null : { at: Number(at), id }
}

function recorded(
  store: RecordStore,
  disk: RecordDisk | null,
  oldest: number,
  now: number,
): Pick<GatewayState, 'recorder' | 'requestsPerSecond'> {
  const all = store.all().filter(({ at }) => at >= oldest)
  return {
    requestsPerSecond: rateOf(all, now),
    recorder: {
      isEnabled: store.isEnabled,
      records: all.length,
      ...store.use,
      oldest: all.at(-1)?.at ?? null,
      diskBytes: disk?.bytes ?? null,
    },
  }
}

/** Requests per second over the last ten seconds, or over the part of them that is still recorded. */
function rateOf(newestFirst: readonly StoredRecord[], now: number): number {
  const recent = newestFirst.filter(({ at }) => at > now - RATE_WINDOW_MS)
  const first = recent.at(-1)
  if (first === undefined) return 0
  const isAll = recent.length < newestFirst.length
  const span = isAll || newestFirst.length < FEW ? RATE_WINDOW_MS : Math.max(1, now - first.at)
  return Math.round((recent.length / span) * 10_000) / 10
}

const RATE_WINDOW_MS = 10_000
/** With fewer records than this, none was evicted. */
const FEW = 200

function expressionCompiler(identity: ProxyIdentity) {
  return (expression: string): ((record: RequestRecord) => boolean) | string => {
    const [problem] = check(expression, environmentFor('log'), { wants: bool }).problems
    if (problem !== undefined) return problemText(problem)
    const program = compileExpression(expression, 'log')
    return (record) => program.evaluate(recordScope(record, identity)) === true
  }
}
