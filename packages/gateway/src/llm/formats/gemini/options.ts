import { isObject, objectAt, withoutAbsent } from '../../../wire/json.ts'
import type { Json, JsonObject } from '../../middle.ts'

/** Fields of Gemini that clients of other formats may set, in the names that Google gave them there. */
export interface Options {
  cachedContent?: Json
  safetySettings?: Json
  labels?: Json
  thinkingConfig?: JsonObject
}

/** They stand in the body itself, or in `extra_body.google`, where Google's own server of the format looks. */
export function takeOptions(body: JsonObject): { options: Options; rest: JsonObject } {
  const { cached_content, safety_settings, labels, thinking_config, extra_body, ...rest } = body
  const nested = objectAt(objectAt(body, 'extra_body'), 'google')
  const thinking = thinking_config ?? nested.thinking_config
  const options = withoutAbsent({
    cachedContent: cached_content ?? nested.cached_content,
    safetySettings: safety_settings ?? nested.safety_settings,
    labels: labels ?? nested.labels,
    thinkingConfig: isObject(thinking) ? inCamelCase(thinking) : undefined,
  })
  return { options, rest: { ...rest, ...restOf(extra_body) } }
}

/** What else stands in `extra_body` is reported as a whole. */
function restOf(extraBody: Json | undefined): JsonObject {
  if (extraBody === undefined || (isObject(extraBody) && isObject(extraBody.google))) return {}
  return { extra_body: extraBody }
}

function inCamelCase(object: JsonObject): JsonObject {
  const entries = Object.entries(object).map(([name, value]): [string, Json] => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(entries)
}
