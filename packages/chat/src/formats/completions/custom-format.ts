import { isObject } from '@portico/http/json'
import type { JsonObject } from '../../middle.ts'

/** The middle has the grammar of a custom tool in the flat form of Responses; Chat Completions nests it in a member. */

export function flatFormat(format: JsonObject): JsonObject {
  return format.type === 'grammar' && isObject(format.grammar) ? { type: 'grammar', ...format.grammar } : format
}

export function nestedFormat(format: JsonObject): JsonObject {
  const { type, ...grammar } = format
  return type === 'grammar' ? { type, grammar } : format
}
