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

/** The columns of costs in an hourly sum: whole dollars and the rest, because a sum of billionths would overflow. */
export const COST_COLUMNS = ['dollars', 'nanos', 'saved_dollars', 'saved_nanos'] as const

export const HOUR_MS = 3_600_000

export function floorHour(at: number): number {
  return at - (at % HOUR_MS)
}

export function ceilHour(at: number): number {
  return floorHour(at) === at ? at : floorHour(at) + HOUR_MS
}
