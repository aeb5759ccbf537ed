import { parseJsonObject, isObject } from '@portico/http/json'
import type { JsonObject } from '../middle.ts'

/**
 * Custom tools take free text. In other formats a tool takes an object, so the text becomes the only member of an
 * object.
 */

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

/** Escapes a piece of the text for the JSON between prefix and suffix; pieces may be cut anywhere. */
export function escapeInput(piece: string): string {
  return JSON.stringify(piece).slice(1, -1)
}

/** The input text of a call. Models that did not get the object schema may send the text itself. */
export function unwrapInput(argumentsText: string): string {
  const input = parseJsonObject(argumentsText)?.input
  return typeof input === 'string' ? input : argumentsText
}

/** Adds the grammar of a custom tool to its description, for providers without custom tools. */
export function describeFormat(description: string | undefined, format: JsonObject): string | undefined {
  if (format.type !== 'grammar' || typeof format.definition !== 'string') return description
  const syntax = typeof format.syntax === 'string' ? `${format.syntax} ` : ''
  const grammar = `The input must match this ${syntax}grammar:\n${format.definition}`
  return description === undefined ? grammar : `${description}\n\n${grammar}`
}

/** The middle has the grammar of a custom tool in the flat form of Responses; Chat Completions nests it in a member. */

export function flatFormat(format: JsonObject): JsonObject {
  return format.type === 'grammar' && isObject(format.grammar) ? { type: 'grammar', ...format.grammar } : format
}

export function nestedFormat(format: JsonObject): JsonObject {
  const { type, ...grammar } = format
  return type === 'grammar' ? { type, grammar } : format
}
