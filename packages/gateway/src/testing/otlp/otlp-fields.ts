import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { LogValue } from '../../telemetry/log/access-log.ts'

/** Reads the fields that all kinds of telemetry share. */

/** The resource that sent the telemetry, and the instrumentation scope that produced it. */
export interface SeenOrigin {
  resource: Record<string, LogValue>
  scope: { name: string; version: string }
}

/** Passes every item of an `Export…ServiceRequest` to `item`; throws on a field that the protocol does not have. */
export function readEnvelope(request: Uint8Array, item: (bytes: Uint8Array, origin: SeenOrigin) => void): void {
  readFields(request, { 1: (reader) => readResource(reader.bytes(), item) })
}

function readResource(bytes: Uint8Array, item: (bytes: Uint8Array, origin: SeenOrigin) => void): void {
  const resource: Record<string, LogValue> = {}
  readFields(bytes, {
    1: (reader) => readFields(reader.bytes(), { 1: (inner) => readAttribute(inner.bytes(), resource), 2: skipZero }),
    2: (reader) => readScope(reader.bytes(), resource, item),
  })
}

function readScope(
  bytes: Uint8Array,
  resource: SeenOrigin['resource'],
  item: (bytes: Uint8Array, origin: SeenOrigin) => void,
): void {
  const scope = { name: '', version: '' }
  readFields(bytes, {
    1: (reader) =>
      readFields(reader.bytes(), {
        1: (inner) => (scope.name = inner.string()),
        2: (inner) => (scope.version = inner.string()),
      }),
    2: (reader) => item(reader.bytes(), { resource, scope }),
  })
}

export function readAttribute(bytes: Uint8Array, attributes: Record<string, LogValue>): void {
  let name = ''
  let value: LogValue = null
  readFields(bytes, {
    1: (reader) => (name = reader.string()),
    2: (reader) => (value = readValue(reader.bytes())),
  })
  if (Object.hasOwn(attributes, name)) throw new Error(`the attribute ${name} stands there twice`)
  Object.defineProperty(attributes, name, { value, enumerable: true })
}

export function readValue(bytes: Uint8Array): LogValue {
  let value: LogValue = null
  readFields(bytes, {
    1: (reader) => (value = reader.string()),
    2: (reader) => (value = reader.bool()),
    3: (reader) => (value = Number(reader.int64())),
    4: (reader) => (value = reader.double()),
    5: (reader) => {
      const items: LogValue[] = []
      readFields(reader.bytes(), { 1: (inner) => items.push(readValue(inner.bytes())) })
      value = items
    },
    6: (reader) => {
      const entries: Record<string, LogValue> = {}
      readFields(reader.bytes(), { 1: (inner) => readAttribute(inner.bytes(), entries) })
      value = entries
    },
  })
  return value
}

export function skipZero(reader: BinaryReader): void {
  if (reader.uint32() !== 0) throw new Error('attributes were dropped')
}

export function readFields(bytes: Uint8Array, readers: Record<number, (reader: BinaryReader) => unknown>): void {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [field] = reader.tag()
    const read = readers[field]
    if (read === undefined) throw new Error(`there is no field ${field}`)
    read(reader)
  }
}
