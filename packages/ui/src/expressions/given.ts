/** What an expression is tried on: a recorded request, or variables that somebody wrote. */
export type Given = { readonly requestId: string } | { readonly variables: unknown }

/** A text says what is wrong with what was written. */
export function readVariables(text: string): { variables: unknown } | string {
  if (text.trim() === '') return { variables: {} }
  try {
    return { variables: JSON.parse(text) as unknown }
  } catch (error) {
    return `No JSON: ${error instanceof Error ? error.message : String(error)}`
  }
}
