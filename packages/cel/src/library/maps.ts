import { noSuchOverload } from '../error.ts'
import { entriesOf } from '../run/maps.ts'
import { exhausted, spend } from '../run/meter.ts'
import { isMap, typeName } from '../run/type-of.ts'
import type { MapKey, Result, Value } from '../value.ts'
import { method } from './define.ts'

export const mapFunctions = [
  method(
    'merge',
    1,
    'Both maps in one; the argument wins where both have a key.',
    (map: Value, other: Value): Result => {
      if (!isMap(map) || !isMap(other)) return noSuchOverload(`${typeName(map)}.merge(${typeName(other)})`)
      const entries = [...entriesOf(map), ...entriesOf(other)]
      return spend(entries.length) ? new Map<MapKey, Value>(entries) : exhausted
    },
  ),
]
