import { Double, Duration, MapView, Opaque, Optional, Timestamp, TypeValue, Uint } from '../value.ts'
import type { PlainMap, Value } from '../value.ts'

const names = [
  'bool',
  'bytes',
  'double',
  'google.protobuf.Duration',
  'google.protobuf.Timestamp',
  'int',
  'list',
  'map',
  'null_type',
  'optional_type',
  'string',
  'type',
  'uint',
] as const

export const typesByName: ReadonlyMap<string, TypeValue> = new Map(names.map((name) => [name, new TypeValue(name)]))

/** The type name; `unknown` for host values without a CEL type, such as functions. */
export function typeName(value: Value): string {
  if (typeof value === 'object') return objectTypeName(value)
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'int' : 'double'
  return NAMES_BY_JS_TYPE.get(typeof value) ?? 'unknown'
}

const NAMES_BY_JS_TYPE = new Map<string, string>([
  ['boolean', 'bool'],
  ['string', 'string'],
  ['bigint', 'int'],
])

function objectTypeName(value: object | null): string {
  if (value === null) return 'null_type'
  if (Array.isArray(value)) return 'list'
  if (isPlainMap(value) || value instanceof Map || value instanceof MapView) return 'map'
  if (value instanceof Uint8Array) return 'bytes'
  if (value instanceof Double) return 'double'
  if (value instanceof Uint) return 'uint'
  if (value instanceof Timestamp) return 'google.protobuf.Timestamp'
  if (value instanceof Duration) return 'google.protobuf.Duration'
  if (value instanceof Optional) return 'optional_type'
  if (value instanceof TypeValue) return 'type'
  return value instanceof Opaque ? value.typeName : 'unknown'
}

export function typeOf(value: Value): TypeValue {
  const name = typeName(value)
  return typesByName.get(name) ?? new TypeValue(name)
}

export function isPlainMap(value: unknown): value is PlainMap {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

export function isMap(value: unknown): value is PlainMap | ReadonlyMap<never, Value> | MapView {
  return isPlainMap(value) || value instanceof Map || value instanceof MapView
}

export function isList(value: unknown): value is readonly Value[] {
  return Array.isArray(value)
}
