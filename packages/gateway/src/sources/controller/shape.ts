import { isObject } from '@portico/http/json'
import { nodeOf, Schema } from '../../schema/kit.ts'

/** The known shape of a part of a config: enum values, a schema, a list, or names with their shapes; null allows anything. */
export type Shape = null | ReadonlySet<string> | Schema | readonly [Shape] | { readonly [name: string]: Shape }

/** A shape with every name of a type, so that an addition to the type needs one here. */
export type ShapeOf<Type> = { readonly [Name in keyof Required<Type>]: Shape }

/** The enum values of a record, which needs an entry for each value of the type. */
export function words<Word extends string>(all: Record<Word, true>): ReadonlySet<string> {
  return new Set(Object.keys(all))
}

/** The paths of unknown names and enum values. Messages do not repeat values. */
export function unknownIn(shape: Shape, value: unknown, at: string): string[] {
  if (shape === null || value === null || value === undefined) return []
  if (shape instanceof Set) return typeof value === 'string' && shape.has(value) ? [] : [at]
  if (shape instanceof Schema) return unknownBy(shape, value, at)
  if (Array.isArray(shape)) return itemsOf(value).flatMap((item, index) => unknownIn(shape[0], item, `${at}[${index}]`))
  return unknownNames(shape as Readonly<Record<string, Shape>>, value, at)
}

/** Compares a value with a schema. Scalars are not checked, except for enum values. */
function unknownBy(schema: Schema, value: unknown, at: string): string[] {
  const node = nodeOf(schema)
  switch (node.kind) {
    case 'scalar':
      return node.type !== 'enum' || node.values.some((word) => word === value) ? [] : [at]
    case 'list':
      return unknownIn([node.item], value, at)
    case 'map':
      return namesOf(value).flatMap((name) => unknownBy(node.value, valueAt(value, name), `${at}.${name}`))
    case 'object':
      return unknownNames(node.fields, value, at)
  }
}

function unknownNames(shape: Readonly<Record<string, Shape>>, value: unknown, at: string): string[] {
  return namesOf(value).flatMap((name) => {
    const place = at === '' ? name : `${at}.${name}`
    return Object.hasOwn(shape, name) ? unknownIn(shape[name] ?? null, valueAt(value, name), place) : [place]
  })
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function namesOf(value: unknown): string[] {
  return isObject(value) ? Object.keys(value) : []
}

function valueAt(value: unknown, name: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[name]
}
