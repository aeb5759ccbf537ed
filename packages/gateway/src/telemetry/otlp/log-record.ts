import type { AccessRecord } from '../log/access-record.ts'
import { isPlain, type LineChanges, recordFields, traceFields } from '../log/edited-line.ts'
import { attributeName, boundedValue, valueSize, writeAttribute, writeValue } from './attributes.ts'
import type { ItemQueue } from './item-queue.ts'
import type { TraceContext } from './traceparent.ts'
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
    if (isPlain(record)) return addPlain(wire, record)
    for (let i = PLACE_FIELDS; i < FIELDS.length; i++) {
      const { key, read } = FIELDS[i]!
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

/** What is in `FIELDS`, for most records: written out, for a loop over functions costs more than what they do. */
function addPlain(wire: WireBuffer, r: AccessRecord): void {
  addText(wire, NAMES.source, r.srcAddr)
  addText(wire, NAMES.method, r.method)
  addText(wire, NAMES.host, r.host)
  addText(wire, NAMES.path, r.target)
  addText(wire, NAMES.version, r.version)
  if (r.status !== 0) addNumber(wire, NAMES.status, r.status)
  if (r.grpcStatus !== null) addNumber(wire, NAMES.grpcStatus, r.grpcStatus)
  if (r.host === null) addText(wire, NAMES.sni, r.sni)
  addText(wire, NAMES.requestId, r.requestId)
  addText(wire, NAMES.decisionId, r.decisionId)
  addText(wire, NAMES.protocol, r.protocol)
  if (r.retryAttempt !== 0) addNumber(wire, NAMES.retryAttempt, r.retryAttempt)
  addNumber(wire, NAMES.requestBytes, r.requestBytes)
  addNumber(wire, NAMES.responseBytes, r.responseBytes)
  addText(wire, NAMES.error, r.error)
  if (r.reason !== 'Upstream') addText(wire, NAMES.reason, r.reason)
  addText(wire, NAMES.duration, `${Math.round(r.durationMs)}ms`)
}

function addText(wire: WireBuffer, name: Buffer, text: string | null): void {
  if (text !== null && !wire.shortAttribute(ATTRIBUTE, name, text)) writeAttribute(wire, ATTRIBUTE, name, text)
}

function addNumber(wire: WireBuffer, name: Buffer, value: number): void {
  if (!wire.smallAttribute(ATTRIBUTE, name, value)) writeAttribute(wire, ATTRIBUTE, name, value)
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
const FIELDS = recordFields
  .filter(([name]) => !traceFields.includes(name))
  .map(([name, read]) => ({ name, key: attributeName(name), read }))
const NAMES = {
  source: attributeName('src.addr'),
  method: attributeName('http.method'),
  host: attributeName('http.host'),
  path: attributeName('http.path'),
  version: attributeName('http.version'),
  status: attributeName('http.status'),
  grpcStatus: attributeName('grpc.status'),
  sni: attributeName('tls.sni'),
  requestId: attributeName('request.id'),
  decisionId: attributeName('decision.id'),
  protocol: attributeName('protocol'),
  retryAttempt: attributeName('retry.attempt'),
  requestBytes: attributeName('request.bytes'),
  responseBytes: attributeName('response.bytes'),
  error: attributeName('error'),
  reason: attributeName('reason'),
  duration: attributeName('duration'),
}
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
