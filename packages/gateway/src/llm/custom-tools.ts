import { parseJsonObject } from '../wire/json.ts'
import type { JsonObject } from './middle.ts'

/** Custom tools take free text. Everywhere else a tool takes an object, so the text is its only member. */

export const INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as text.' } },
  required: ['input'],
  additionalProperties: false,
}

export const INPUT_PREFIX = '{"input":"'
export const INPUT_SUFFIX = '"}'

export function wrapInput(input: string): string {
  return JSON.stringify({ input })
}

/** A piece of the text as it stands between prefix and suffix; pieces may be cut anywhere. */
export function escapeInput(piece: string): string {
  return JSON.stringify(piece).slice(1, -1)
}

/** The text of a call; models that were not asked for an object may answer with the text itself. */
export function unwrapInput(argumentsText: string): string {
  const input = parseJsonObject(argumentsText)?.input
  return typeof input === 'string' ? input : argumentsText
}

/** Providers without custom tools do not know the grammar, so the model is told. */
export function describeFormat(description: string | undefined, format: JsonObject): string | undefined {
  if (format.type !== 'grammar' || typeof format.definition !== 'string') return description
  const syntax = typeof format.syntax === 'string' ? `${format.syntax} ` : ''
  const grammar = `The input must match this ${syntax}grammar:\n${format.definition}`
  return description === undefined ? grammar : `${description}\n\n${grammar}`
}
