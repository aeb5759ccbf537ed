import { RECORD_OUTCOMES, type RecordOutcome, type RequestRecord } from './record.ts'

/** A filter of requests. Unset fields match everything; several values of one field are alternatives. */
export interface RecordFilter {
  /** Bounds of the start of the request, in milliseconds since 1970. */
  readonly since: number | null
  readonly until: number | null
  readonly matches: readonly ((record: RequestRecord) => boolean)[]
}

export const FILTER_PARAMETERS = [
  'since',
  'until',
  'id',
  'status',
  'route',
  'policy',
  'outcome',
  'key',
  'model',
  'tool',
  'shadow',
  'rehearsal',
  'expression',
] as const

/** Reads the filter from query parameters; returns an error message if they are invalid. */
export function readFilter(
  query: URLSearchParams,
  now: number,
  compile: (expression: string) => ((record: RequestRecord) => boolean) | string,
): RecordFilter | string {
  const matches: RecordFilter['matches'][number][] = []
  for (const [name, matcherOf] of Object.entries(MATCHERS)) {
    const values = query.getAll(name).flatMap((value) => value.split(','))
    if (values.length === 0) continue
    const alternatives = values.map(matcherOf)
    const problem = alternatives.find((found) => typeof found === 'string')
    if (problem !== undefined) return problem
    const each = alternatives.filter((found) => typeof found !== 'string')
    matches.push((record) => each.some((alternative) => alternative(record)))
  }
  for (const expression of query.getAll('expression')) {
    const compiled = compile(expression)
    if (typeof compiled === 'string') return `invalid expression: ${compiled}`
    matches.push(compiled)
  }
  const since = readTime(query.get('since'), now)
  const until = readTime(query.get('until'), now)
  if (since === undefined) return `since: ${TIME_FORM}`
  if (until === undefined) return `until: ${TIME_FORM}`
  return { since, until, matches }
}

export function isMeant(filter: RecordFilter, record: RequestRecord): boolean {
  if (filter.since !== null && record.at < filter.since) return false
  if (filter.until !== null && record.at > filter.until) return false
  return filter.matches.every((matches) => matches(record))
}

export function takesAll({ since, until, matches }: RecordFilter): boolean {
  return since === null && until === null && matches.length === 0
}

type Matcher = (value: string) => ((record: RequestRecord) => boolean) | string

const MATCHERS: Readonly<Record<string, Matcher>> = {
  id: (value) => (record) => record.id === value || record.requestId === value,
  status: statusMatcher,
  outcome(value) {
    if (!(RECORD_OUTCOMES as readonly string[]).includes(value)) {
      return `outcome: expected one of ${RECORD_OUTCOMES.join(', ')}`
    }
    const outcome = value as RecordOutcome
    return (record) => record.outcome === outcome || (outcome === 'slow' && record.isSlow)
  },
  route: (value) => (record) => record.route === value || record.keys.route === value,
  policy: (value) => (record) => record.reason?.policy === value,
  key: (value) => (record) => record.key === value,
  model: (value) => (record) => record.llm?.requestModel === value || record.llm?.responseModel === value,
  shadow: shadowMatcher,
  rehearsal: rehearsalMatcher,
  tool: (value) => (record) => record.mcp?.kind === 'tool' && record.mcp.name === value,
}

/** Returns the filter for requests with a shadow outcome such as `denied`, or with a shadow policy of this name. */
function shadowMatcher(value: string): ReturnType<Matcher> {
  return ({ shadows = [] }) => shadows.some(({ outcome, policy }) => outcome === value || policy === value)
}

/** Returns the filter for requests that a rehearsal affected (`true`) or did not affect (`false`). */
function rehearsalMatcher(value: string): ReturnType<Matcher> {
  if (value !== 'true' && value !== 'false') return 'rehearsal: expected true or false'
  return ({ rehearsal = [] }) => (value === 'true') === rehearsal.length > 0
}

/** Parses a status filter: `429`, `4xx`, `>=400` or `400-499`. */
function statusMatcher(value: string): ReturnType<Matcher> {
  const one = /^[1-5][0-9]{2}$/.test(value) ? Number(value) : null
  if (one !== null) return ({ status }) => status === one
  const hundreds = /^([1-5])xx$/i.exec(value)?.[1]
  if (hundreds !== undefined) return ({ status }) => Math.floor(status / 100) === Number(hundreds)
  const [, sign, bound] = /^(>=|<=|>|<)([0-9]{1,3})$/.exec(value) ?? []
  if (sign !== undefined) return ({ status }) => status !== 0 && isBeyond(status, sign, Number(bound))
  const [, low, high] = /^([0-9]{3})-([0-9]{3})$/.exec(value) ?? []
  if (low !== undefined) return ({ status }) => status >= Number(low) && status <= Number(high)
  return 'status: expected a code such as 429, 4xx, >=400 or 400-499'
}

function isBeyond(status: number, sign: string, bound: number): boolean {
  if (sign === '>=') return status >= bound
  if (sign === '<=') return status <= bound
  return sign === '>' ? status > bound : status < bound
}

export const TIME_FORM =
  'expected a time ago such as 15m, milliseconds since 1970, or a date such as 2026-01-31T12:00:00Z'

/** Parses a time; undefined if it is invalid. */
export function readTime(text: string | null, now: number): number | null | undefined {
  if (text === null) return null
  const [, amount, unit] = /^([0-9]{1,6})(ms|s|m|h|d)$/.exec(text) ?? []
  if (unit !== undefined) return now - Number(amount) * (UNITS[unit] ?? 0)
  if (/^[0-9]{9,16}$/.test(text)) return Number(text)
  const date = /^[0-9]{4}-/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : date
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
