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

export function ceilHour(at: number): number {
  return floorHour(at) === at ? at : floorHour(at) + HOUR_MS
}
