import { asError } from '../api/unknown-values.ts'

/** The input of an expression: a recorded request, or variables that people wrote. */
export type EvaluationInput = { readonly requestId: string } | { readonly variables: unknown }

/** `readVariables` returns the variables, or a text about the problem in them. */
export function readVariables(text: string): { variables: unknown } | string {
  if (text.trim() === '') return { variables: {} }
  try {
    return { variables: JSON.parse(text) as unknown }
  } catch (error) {
    return `Invalid JSON: ${asError(error).message}`
  }
}
