import { overload } from '../declarations.ts'
import { noSuchOverload } from '../error.ts'
import { toJson, toText } from '../render.ts'
import { entriesOf } from '../run/maps.ts'
import { exhausted, spend } from '../run/meter.ts'
import { isList, isMap, typeName } from '../run/type-of.ts'
import { mapOf, parameter } from '../types.ts'
import type { MapKey, Result, Value } from '../value.ts'
import { Opaque } from '../value.ts'
import { globalFunction, method } from './define.ts'

/** A value that becomes several fields of a log line or a span, each named after its key. */
export class FlattenedFields extends Opaque {
  readonly typeName = 'flattened'
  /** Fields by name; keys of nested maps are joined with dots. */
  readonly fields: readonly (readonly [string, Value])[]

  constructor(fields: readonly (readonly [string, Value])[]) {
    super()
    this.fields = fields
  }

  toText(): string {
    return JSON.stringify(Object.fromEntries(this.fields.map(([name, value]) => [name, toJson(value)])))
  }

  equals(other: Value): boolean {
    return this === other
  }
}

const ALL = 'For log and trace fields: each value within a map or list becomes a field, whatever its depth.'

const anyMap = mapOf(parameter('key'), parameter('value'))
// Values without entries are returned unchanged.
const flattening = overload(['dyn'], 'dyn')

export const mapFunctions = [
  method(
    'merge',
    overload([anyMap, anyMap], anyMap),
    'Both maps merged; the argument wins for common keys.',
    (map: Value, other: Value): Result => {
      if (!isMap(map) || !isMap(other)) return noSuchOverload(`${typeName(map)}.merge(${typeName(other)})`)
      const entries = [...entriesOf(map), ...entriesOf(other)]
      return spend(entries.length) ? new Map<MapKey, Value>(entries) : exhausted
    },
  ),
  globalFunction(
    'flatten',
    flattening,
    'For log and trace fields: each entry of a map becomes a field.',
    (value: Value) => flatten(value, 1),
  ),
  globalFunction('flattenRecursive', flattening, ALL, (value: Value) => flatten(value, MAX_DEPTH)),
  globalFunction('flatten_recursive', flattening, ALL, (value: Value) => flatten(value, MAX_DEPTH)),
]

const MAX_DEPTH = 32

/** Flattens maps and lists; any other value is returned unchanged. */
function flatten(value: Value, depth: number): Result {
  if (!isMap(value) && !isList(value)) return value
  const fields: [string, Value][] = []
  return collect(value, '', depth) ? new FlattenedFields(fields) : exhausted

  function collect(container: Value, prefix: string, left: number): boolean {
    for (const [key, item] of entriesOfAny(container)) {
      if (!spend(1)) return false
      const name = prefix + key
      const isInner = left > 1 && (isMap(item) || isList(item))
      if (!isInner) fields.push([name, item])
      else if (!collect(item, `${name}.`, left - 1)) return false
    }
    return true
  }
}

function entriesOfAny(container: Value): [string, Value][] {
  if (isList(container)) return container.map((item, index) => [String(index), item])
  return isMap(container) ? entriesOf(container).map(([key, item]) => [toText(key), item]) : []
}
