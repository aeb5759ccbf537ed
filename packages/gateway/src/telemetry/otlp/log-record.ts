import type { AccessRecord } from '../log/access-record.ts'
import { isPlain, type LineChanges, plainFields, recordFields, traceFields } from '../log/access-log.ts'
import { attributeName, boundedValue, valueSize, writeAttribute, writeValue } from './attributes.ts'
import type { ItemQueue } from './item-queue.ts'
import type { TraceContext } from '../traceparent.ts'
import { WireBuffer } from './wire-buffer.ts'

export interface LogEntry {
  record: AccessRecord
  /** `namespace/name` of the gateway. */
  gateway: string
  /** Null for no changes. */
  changes: LineChanges | null
  /** Milliseconds since 1970. */
  time: number
}

/** Encodes access records as `LogRecord`s, with the same field names as the access log. */
export class LogRecordEncoder {
  readonly #queue: ItemQueue
  /** The encoded destination of the last record. */
  #destination: Destination | null = null

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
    this.#addDestination(wire, record, gateway)
    const fields = isPlain(record) ? PLAIN_FIELDS : FIELDS
    for (let i = DESTINATION_FIELDS; i < fields.length; i++) {
      const { key, read } = fields[i]!
      const value = read(record)
      if (value !== null) writeAttribute(wire, ATTRIBUTE, key, value)
    }
  }

  /** Adds gateway, listener, route and endpoint; they are encoded again only when they differ from the last record. */
  #addDestination(wire: WireBuffer, record: AccessRecord, gateway: string): void {
    const { listenerName, routeName, endpoint } = record
    const last = this.#destination
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
    for (let i = 0; i < DESTINATION_FIELDS; i++) {
      const { key, read } = FIELDS[i]!
      const value = read(record)
      if (value !== null) writeAttribute(wire, ATTRIBUTE, key, value)
    }
    this.#destination = { gateway, listenerName, routeName, endpoint, bytes: Buffer.from(wire.view(start)) }
  }
}

interface Destination extends Pick<AccessRecord, 'listenerName' | 'routeName' | 'endpoint'> {
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

/** Returns the fields as attributes, without the trace ids, which have fields of their own in a `LogRecord`. */
function fieldsIn(fields: typeof recordFields) {
  return fields
    .filter(([name]) => !traceFields.includes(name))
    .map(([name, read]) => ({ name, key: attributeName(name), read }))
}

const FIELDS = fieldsIn(recordFields)
const PLAIN_FIELDS = fieldsIn(plainFields)
/** The number of leading fields that `#addDestination` has written. */
const DESTINATION_FIELDS = 3
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

/** Severity and body, which are the same for all records: a body could repeat fields that the config removes. */
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
