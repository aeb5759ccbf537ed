import { CelError } from '../error.ts'
import { entriesOf } from '../run/maps.ts'
import { isMap } from '../run/type-of.ts'
import { Double, Duration, Opaque, Optional, Timestamp, TypeValue, Uint } from '../value.ts'

/** Describes a value as text that differs by type, so that results can be compared and printed. */
export function describeValue(value: unknown): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'bigint') return `int ${value}`
  // Test data and other libraries do not distinguish -0.0 from 0.0.
  if (typeof value === 'number') return Number.isSafeInteger(value) ? `int ${value + 0}` : `double ${value}`
  if (Array.isArray(value)) return `[${value.map(describeValue).join(', ')}]`
  if (value instanceof Uint8Array) return `bytes ${value.join(' ')}`
  if (value instanceof Double) return `double ${value.value + 0}`
  if (value instanceof Uint) return `uint ${value.value}`
  if (value instanceof TypeValue) return `type ${value.name}`
  if (value instanceof Timestamp || value instanceof Duration) return `time ${value.seconds} ${value.nanos}`
  if (value instanceof Optional) return value.value === undefined ? 'none' : `optional ${describeValue(value.value)}`
  if (value instanceof Opaque) return `${value.typeName} ${value.toText()}`
  if (value instanceof CelError) return `${value.kind} (${value.message})`
  if (!isMap(value)) return typeof value
  const entries = entriesOf(value).map(([key, item]) => `${describeValue(key)}: ${describeValue(item)}`)
  return `{${entries.toSorted().join(', ')}}`
}
