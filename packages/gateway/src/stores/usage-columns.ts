/** The columns of the ledger that usage can be grouped by; an hourly sum has one value in each of them. */
export const GROUP_COLUMNS = [
  'key',
  'team',
  'route',
  'requested_model',
  'model',
  'provider',
  'operation',
  'status',
  'basis',
  'cache',
] as const

/** The columns of tokens, which both tables have under the same name. */
export const TOKEN_COLUMNS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const

export const HOUR_MS = 3_600_000

export function floorHour(at: number): number {
  return at - (at % HOUR_MS)
}

function ceilHour(at: number): number {
  return floorHour(at) === at ? at : floorHour(at) + HOUR_MS
}

/** The parts of a range of time: sums of whole hours from `first` to `end`, and entries before and after them. */
interface UsageRange {
  readonly first: number
  readonly end: number
  /** Entries from `since` to `firstEnd`, and from `last` to `until`. */
  readonly since: number
  readonly firstEnd: number
  readonly last: number
  readonly until: number
}

/**
 * Splits a range into whole hours and the rest. Entries before `removedBefore` are removed: such an hour belongs to the
 * range as a whole when its start does.
 */
export function splitRange({ since, until }: { since: number; until: number }, removedBefore: number): UsageRange {
  const complete = ceilHour(removedBefore)
  const first = ceilHour(since)
  const end = until < complete ? ceilHour(until) : floorHour(until)
  return {
    first,
    end,
    since: since < complete ? first : since,
    firstEnd: Math.min(first, until),
    last: Math.max(first, end),
    until: until < complete ? 0 : until,
  }
}
