import type { ExplainedPart } from '@portico/gateway/admin-api'

/** What was read or computed, or why there is nothing to see. */
export function partText({
  state,
  value,
  error = null,
}: Pick<ExplainedPart, 'state' | 'value'> & { error?: string | null }): string {
  if (state === 'failed') return error === null ? 'failed' : `failed (${error})`
  if (state === 'hidden') return '(hidden)'
  if (state === 'notKept') return '(not kept)'
  if (state === 'absent') return '(nothing)'
  return JSON.stringify(value)
}
