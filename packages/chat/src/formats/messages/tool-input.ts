import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../../middle.ts'

/**
 * The input of a call, which must be an object. Invalid arguments of a model are wrapped, so that the model sees them
 * again.
 */
export function inputOf(parsed: Json | undefined, text: string): { value: JsonObject; isWrapped: boolean } {
  if (text.trim() === '') return { value: {}, isWrapped: false }
  if (isObject(parsed)) return { value: parsed, isWrapped: false }
  return { value: { INVALID_JSON: text }, isWrapped: true }
}
