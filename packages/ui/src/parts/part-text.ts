import type { ExplainedPart } from '@portico/gateway/admin-api'

/** The value of a part of an expression as JSON, or in parentheses why it has none. */
export function partText({
  state,
  value,
  error = null,
}: Pick<ExplainedPart, 'state' | 'value'> & { error?: string | null }): string {
  if (state === 'failed') return error === null ? 'failed' : `failed (${error})`
  if (state === 'hidden') return '(redacted)'
  if (state === 'notKept') return '(not recorded)'
  if (state === 'absent') return '(absent)'
  return JSON.stringify(value)
}
