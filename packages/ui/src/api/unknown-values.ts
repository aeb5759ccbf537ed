/** Readers of untyped values: JSON from servers and models, caught errors. */

export function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** A text as it is, anything else as JSON; empty for undefined. */
export function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
