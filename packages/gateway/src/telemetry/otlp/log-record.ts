import type { AccessRecord } from '../log/access-record.ts'
import { isPlain, type LineChanges, plainFields, recordFields, traceFields } from '../log/edited-line.ts'
import { attributeName, boundedValue, valueSize, writeAttribute, writeValue } from './attributes.ts'
import type { ItemQueue } from './item-queue.ts'
import type { TraceContext } from '../traceparent.ts'
import { WireBuffer } from './wire-buffer.ts'

export interface LogEntry {
  record: AccessRecord
  /** `namespace/name` of the gateway. */
  gateway: string
  /** Null where the record stays as it is. */
  changes: LineChanges | null
  /** Milliseconds since 1970. */
  time: number
}

/** Makes `LogRecord`s of what the access log has, with the same fields under the same names. */
export class LogRecordEncoder {
  readonly #queue: ItemQueue
  /** Of the last record, as it was written. */
  #place: Place | null = null

  constructor(queue: ItemQueue) {
    this.#queue = queue
  }

  add({ record, gateway, changes, time }: LogEntry): void {
    const wire = this.#queue.begin()
    wire.byte(TIME)
    wire.nanos(time)
    wire.raw(INFO)
    if (changes === null) this.#addAll(wire, record, gateway)
    else addChanged(wire, record, gateway, changes)
    if (record.traceContext !== null) writeTrace(wire, record.traceContext)
    wire.byte(OBSERVED)
    wire.nanos(time)
    this.#queue.added()
  }

  #addAll(wire: WireBuffer, record: AccessRecord, gateway: string): void {
    this.#addPlace(wire, record, gateway)
    const fields = isPlain(record) ? PLAIN_FIELDS : FIELDS
    for (let i = PLACE_FIELDS; i < fields.length; i++) {
      const { key, read } = fields[i]!
      const value = read(record)
      if (value !== null) writeAttribute(wire, ATTRIBUTE, key, value)
    }
  }

  /** Where a request went is written anew only where it is another place than that of the one before. */
  #addPlace(wire: WireBuffer, record: AccessRecord, gateway: string): void {
    const { listenerName, routeName, endpoint } = record
    const last = this.#place
    if (
      last !== null &&
      last.gateway === gateway &&
      last.listenerName === listenerName &&
      last.routeName === routeName &&
      last.endpoint === endpoint
    ) {
      return wire.raw(last.bytes)
    }
    const start = wire.length
    writeAttribute(wire, ATTRIBUTE, GATEWAY, gateway)
    for (let i = 0; i < PLACE_FIELDS; i++) {
      const { key, read } = FIELDS[i]!
      const value = read(record)
      if (value !== null) writeAttribute(wire, ATTRIBUTE, key, value)
    }
    this.#place = { gateway, listenerName, routeName, endpoint, bytes: Buffer.from(wire.view(start)) }
  }
}

interface Place extends Pick<AccessRecord, 'listenerName' | 'routeName' | 'endpoint'> {
  gateway: string
  bytes: Buffer
}

function addChanged(wire: WireBuffer, record: AccessRecord, gateway: string, changes: LineChanges): void {
  if (stays('gateway', changes)) writeAttribute(wire, ATTRIBUTE, GATEWAY, gateway)
  for (const { name, key, read } of FIELDS) {
    const value = stays(name, changes) ? read(record) : null
    if (value !== null) writeAttribute(wire, ATTRIBUTE, key, value)
  }
  for (const [name, value] of changes.added) {
    writeAttribute(wire, ATTRIBUTE, attributeName(name), boundedValue(value))
  }
}

function writeTrace(wire: WireBuffer, { traceId, spanId, flags }: TraceContext): void {
  wire.byte(FLAGS)
  wire.fixed32(flags)
  wire.byte(TRACE_ID)
  wire.byte(16)
  wire.hex(traceId)
  wire.byte(SPAN_ID)
  wire.byte(8)
  wire.hex(spanId)
}

function stays(name: string, changes: LineChanges | null): boolean {
  return changes === null || (!changes.removed.has(name) && !changes.added.has(name))
}

/** Ids have fields of their own in a record. */
function fieldsIn(fields: typeof recordFields) {
  return fields
    .filter(([name]) => !traceFields.includes(name))
    .map(([name, read]) => ({ name, key: attributeName(name), read }))
}

const FIELDS = fieldsIn(recordFields)
const PLAIN_FIELDS = fieldsIn(plainFields)
/** So many of them, the first ones, say where a request went. */
const PLACE_FIELDS = 3
const GATEWAY = attributeName('gateway')

const TIME = 0x09
const SEVERITY = 0x10
const SEVERITY_TEXT = 0x1a
const BODY = 0x2a
const ATTRIBUTE = 0x32
const FLAGS = 0x45
const TRACE_ID = 0x4a
const SPAN_ID = 0x52
const OBSERVED = 0x59

/** Severity and body are the same in all: what a config removes must not stand in a body. */
const INFO = fixedPart()

function fixedPart(): Buffer {
  const wire = new WireBuffer()
  wire.byte(SEVERITY)
  wire.varint(9)
  wire.byte(SEVERITY_TEXT)
  wire.varint(4)
  wire.text('INFO', 4)
  wire.byte(BODY)
  wire.varint(valueSize('request'))
  writeValue(wire, 'request', valueSize('request'))
  return wire.take()
}
