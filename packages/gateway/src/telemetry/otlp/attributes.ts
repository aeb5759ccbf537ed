import { cutText, type LogValue } from '../log/access-log.ts'
import { INT, int64Size, TEXT, textSize, VALUE, varintSize, type WireBuffer } from './wire-buffer.ts'

/** Encodes a name as the first field of a `KeyValue`; names of every record are encoded once. */
export function attributeName(name: string): Buffer {
  const text = Buffer.from(name)
  const head: number[] = [KEY]
  let rest = text.length
  for (; rest >= 0x80; rest >>>= 7) head.push((rest & 0x7f) | 0x80)
  return Buffer.concat([Buffer.from([...head, rest]), text])
}

/** Writes one `KeyValue` as a field with this tag. */
export function writeAttribute(wire: WireBuffer, tag: number, name: Buffer, value: LogValue): void {
  if (typeof value === 'string') return writeTextAttribute(wire, tag, name, value)
  if (typeof value === 'number' && wire.smallAttribute(tag, name, value)) return
  const size = valueSize(value)
  wire.byte(tag)
  wire.varint(name.length + 1 + varintSize(size) + size)
  wire.raw(name)
  wire.byte(VALUE)
  wire.varint(size)
  writeValue(wire, value, size)
}

/** Writes a text attribute, the most frequent kind, and computes its size only once. */
function writeTextAttribute(wire: WireBuffer, tag: number, name: Buffer, text: string): void {
  if (wire.shortAttribute(tag, name, text)) return
  const length = textSize(text)
  const size = fieldSize(length)
  wire.byte(tag)
  wire.varint(name.length + fieldSize(size))
  wire.raw(name)
  wire.byte(VALUE)
  wire.varint(size)
  wire.byte(TEXT)
  wire.varint(length)
  wire.text(text, length)
}

/** Cuts a value from an expression of the config to the limits of log lines. */
export function boundedValue(value: LogValue): LogValue {
  if (typeof value === 'string') return cutText(value)
  if (typeof value !== 'object' || value === null) return value
  const json = JSON.stringify(value)
  return cutText(json) === json && depthOf(value) <= MAX_DEPTH ? value : cutText(json)
}

function depthOf(value: LogValue): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

/** Returns the size of an `AnyValue` in bytes. */
export function valueSize(value: LogValue): number {
  if (value === null) return 0
  if (typeof value === 'string') return fieldSize(textSize(value))
  if (typeof value === 'boolean') return 2
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 1 + int64Size(value) : 9
  return fieldSize(contentSize(value))
}

/** Writes an `AnyValue` of `size` bytes. */
export function writeValue(wire: WireBuffer, value: LogValue, size: number): void {
  if (value === null) return
  if (typeof value === 'string') {
    const length = contentLength(size)
    wire.byte(TEXT)
    wire.varint(length)
    wire.text(value, length)
  } else if (typeof value === 'boolean') {
    wire.byte(BOOL)
    wire.byte(value ? 1 : 0)
  } else if (typeof value === 'number') writeNumber(wire, value)
  else {
    wire.byte(Array.isArray(value) ? ARRAY : MAPPING)
    wire.varint(contentLength(size))
    if (Array.isArray(value)) for (const item of value) writeItem(wire, item)
    else for (const [name, item] of Object.entries(value)) writeAttribute(wire, ITEM, attributeName(name), item)
  }
}

function writeNumber(wire: WireBuffer, value: number): void {
  if (Number.isSafeInteger(value)) {
    wire.byte(INT)
    wire.int64(value)
  } else {
    wire.byte(DOUBLE)
    wire.double(value)
  }
}

function writeItem(wire: WireBuffer, item: LogValue): void {
  const size = valueSize(item)
  wire.byte(ITEM)
  wire.varint(size)
  writeValue(wire, item, size)
}

/** Returns the size of the content of an `ArrayValue` or a `KeyValueList`. */
function contentSize(value: LogValue[] | { [key: string]: LogValue }): number {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + fieldSize(valueSize(item)), 0)
  return Object.entries(value).reduce((sum, [name, item]) => {
    return sum + fieldSize(attributeName(name).length + fieldSize(valueSize(item)))
  }, 0)
}

/** Returns the size of a field with a tag of one byte and this length of content. */
function fieldSize(length: number): number {
  return 1 + varintSize(length) + length
}

/** Returns the length of the content of a field of this size. */
function contentLength(size: number): number {
  let length = size - 2
  while (length > 0 && fieldSize(length) > size) length--
  return length
}

/** Protobuf tags: field number and wire type. */
const KEY = 0x0a
const ITEM = 0x0a
const BOOL = 0x10
const DOUBLE = 0x21
const ARRAY = 0x2a
const MAPPING = 0x32
/** Deeper values are sent as JSON text, because every level computes the sizes of all levels below it. */
const MAX_DEPTH = 8
