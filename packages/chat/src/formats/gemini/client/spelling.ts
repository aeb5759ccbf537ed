import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../../../middle.ts'
import { Fields } from '../../../request/fields.ts'

/** Google's servers read every member in two spellings, `inlineData` and `inline_data`, and a list of one as its item. */

/** The object with all names in camel case. A member in both spellings fails the request. */
export function camelFields(object: JsonObject, parent: Fields | null = null, name = ''): Fields {
  const entries = Object.entries(object).map(([key, value]): [string, Json] => [inCamelCase(key), value])
  const fields = new Fields(Object.fromEntries(entries), parent, name)
  const names = entries.map(([key]) => key)
  const repeated = names.find((key, index) => names.indexOf(key) !== index)
  if (repeated !== undefined) fields.failWith(repeated, 'occurs in two spellings')
  return fields
}

/** The members of an object in the request; undefined when it is absent. */
export function objectIn(fields: Fields, name: string): Fields | undefined {
  const value = fields.object(name)
  return value === undefined ? undefined : camelFields(value, fields, name)
}

/** The objects of a list in the request; a single object counts as a list of one. */
export function objectsIn(fields: Fields, name: string): Fields[] {
  const value = fields.take(name)
  if (isObject(value)) return [camelFields(value, fields, name)]
  return fields.list(name).map(({ raw }, index) => camelFields(raw, fields, `${name}[${index}]`))
}

export function inCamelCase(name: string): string {
  return name.includes('_')
    ? name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    : name
}

export function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
