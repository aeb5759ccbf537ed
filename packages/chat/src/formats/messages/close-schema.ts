import { lose } from '../../request/client-fields.ts'
import { isObject } from '@portico/http/json'
import type { Json, JsonObject, Loss } from '../../middle.ts'

/** Sets `additionalProperties: false` on every object of a schema, which this vendor requires and others do not. */
export function closeSchema(schema: JsonObject, path: string, losses: Loss[]): JsonObject {
  let isChanged = false
  const close = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(close)
    if (!isObject(value)) return value
    const closed = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, close(member)]))
    if (!isObject(value.properties) || value.additionalProperties !== undefined) return closed
    if (value.type !== undefined && value.type !== 'object') return closed
    isChanged = true
    return { ...closed, additionalProperties: false }
  }
  const closed = close(schema)
  if (isChanged) lose(losses, { what: 'defaulted', path, note: 'additionalProperties: false' })
  return isObject(closed) ? closed : schema
}
