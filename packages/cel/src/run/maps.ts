import { CelError } from '../error.ts'
import { Double, HeadersView, MapView, Uint } from '../value.ts'
import type { MapKey, MapValue, PlainMap, Value } from '../value.ts'
import { exhausted, spend } from './meter.ts'
import { isInt, isNumeric, narrow } from './numbers.ts'
import { typeName } from './type-of.ts'

/** Returns the value of a key, or undefined. Equal numbers of different types are the same key. */
export function lookup(map: MapValue, key: Value): Value | undefined {
  if (map instanceof Map) return lookupMap(map, key)
  if (typeof key !== 'string') return undefined
  if (map instanceof HeadersView) return map.get(key.toLowerCase())
  if (map instanceof MapView) return map.get(key)
  return ownValue(map, key)
}

function ownValue(map: object, key: string): Value | undefined {
  return Object.hasOwn(map, key) ? (map as Record<string, Value | undefined>)[key] : undefined
}

function lookupMap(map: ReadonlyMap<MapKey, Value>, key: Value): Value | undefined {
  if (typeof key === 'string' || typeof key === 'boolean') return map.get(key)
  if (!isNumeric(key)) return undefined
  const whole = canonicalNumber(key)
  if (whole === undefined) return undefined
  const found = map.get(whole)
  if (found !== undefined) return found
  // Unsigned keys keep their type, because loops see it, so they need a scan; few maps have such keys.
  spend(map.size)
  for (const [other, value] of map) {
    if (other instanceof Uint && canonicalNumber(other) === whole) return value
  }
  return undefined
}

/** The same key for 3, 3u and 3.0; undefined for numbers that are not integers. */
function canonicalNumber(key: number | bigint | Double | Uint): number | bigint | undefined {
  if (isInt(key)) return typeof key === 'bigint' ? narrow(key) : key
  if (key instanceof Uint) return narrow(key.value)
  return key instanceof Double ? key.value : undefined
}

export function sizeOf(map: MapValue): number {
  return map instanceof Map ? map.size : keysOf(map).length
}

/** Keys with a value; properties that the host left undefined are skipped. */
export function keysOf(map: MapValue): MapKey[] {
  const keys: MapKey[] = isPlain(map) ? Object.keys(map).filter((key) => map[key] !== undefined) : [...map.keys()]
  spend(keys.length)
  return keys
}

export function entriesOf(map: MapValue): [MapKey, Value][] {
  const entries: [MapKey, Value][] = []
  if (isPlain(map)) {
    for (const key of Object.keys(map)) {
      const value = map[key]
      if (value !== undefined) entries.push([key, value])
    }
  } else {
    for (const key of map.keys()) entries.push([key, lookup(map, key) ?? null])
  }
  spend(entries.length)
  return entries
}

function isPlain(map: MapValue): map is PlainMap {
  return !(map instanceof Map || map instanceof MapView)
}

/** Builds a map literal. A key may not occur twice, nor be a double, null, list or map. */
export class MapBuilder {
  readonly map = new Map<MapKey, Value>()
  readonly #seen = new Set<MapKey>()

  add(key: Value, value: Value): CelError | undefined {
    if (typeof key !== 'string' && typeof key !== 'boolean' && !(key instanceof Uint) && !isInt(key)) {
      return new CelError('bad_value', `a key of a map cannot be a ${typeName(key)}`)
    }
    const canonical = isNumeric(key) ? (canonicalNumber(key) ?? key) : key
    if (this.#seen.has(canonical)) return new CelError('bad_value', 'duplicate key in a map')
    if (!spend(1)) return exhausted
    this.#seen.add(canonical)
    this.map.set(isInt(key) ? canonical : key, value)
    return undefined
  }
}
