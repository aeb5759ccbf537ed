import { isObject } from '../../../wire/json.ts'
import type { Json, JsonObject } from '../../middle.ts'

/** The input of a call must be an object; models have been seen to write something else, and must see that again. */
export function inputOf(parsed: Json | undefined, text: string): { value: JsonObject; isWrapped: boolean } {
  if (text.trim() === '') return { value: {}, isWrapped: false }
  if (isObject(parsed)) return { value: parsed, isWrapped: false }
  return { value: { INVALID_JSON: text }, isWrapped: true }
}
