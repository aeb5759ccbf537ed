import { attributeName, boundedValue, writeAttribute } from './attributes.ts'
import type { LogValue } from '../log/access-log.ts'
import type { Id } from './id.ts'
import type { ItemQueue } from './item-queue.ts'
import { textSize, varintSize, WireBuffer } from './wire-buffer.ts'

/** The span kinds of the protocol. */
export const SERVER = 2
export const CLIENT = 3

/** A span without its attributes. */
export interface SpanHead {
  traceId: Id
  spanId: Id
  /** Null for the first span of a trace. */
  parentId: Id | null
  /** Whether the parent is a span of another process. */
  hasRemoteParent: boolean
  tracestate: string
  name: string
  kind: typeof SERVER | typeof CLIENT
  /** Milliseconds since 1970, with fractions. */
  startMs: number
  endMs: number
}

/** Encodes `Span`s: call `begin`, then add attributes (each name once), then `end`. */
export class SpanEncoder {
  readonly #queue: ItemQueue
  #wire = new WireBuffer(0)
  #flags = 0

  constructor(queue: ItemQueue) {
    this.#queue = queue
  }

  begin(head: SpanHead): void {
    const wire = (this.#wire = this.#queue.begin())
    this.#id(TRACE_ID, head.traceId)
    this.#id(SPAN_ID, head.spanId)
    if (head.tracestate !== '' && head.tracestate.length <= LONGEST_STATE) this.#text(TRACE_STATE, head.tracestate)
    if (head.parentId !== null) this.#id(PARENT_ID, head.parentId)
    this.#text(NAME, head.name)
    wire.byte(KIND)
    wire.byte(head.kind)
    wire.byte(START)
    wire.nanos(head.startMs)
    wire.byte(END)
    wire.nanos(Math.max(head.startMs, head.endMs))
    this.#flags = SAMPLED | KNOWS_PARENT | (head.hasRemoteParent ? REMOTE_PARENT : 0)
  }

  attribute(name: Buffer, value: LogValue): void {
    writeAttribute(this.#wire, ATTRIBUTE, name, value)
  }

  /** Adds an attribute that an expression of the config computed. */
  addedAttribute(name: string, value: LogValue): void {
    writeAttribute(this.#wire, ATTRIBUTE, attributeName(name), boundedValue(value))
  }

  /** Completes the span; `error` is null on success. */
  end(error: string | null): void {
    const wire = this.#wire
    if (error !== null) {
      const length = textSize(error)
      const message = length === 0 ? 0 : 1 + varintSize(length) + length
      wire.byte(STATUS)
      wire.varint(message + 2)
      if (message > 0) this.#text(MESSAGE, error)
      wire.byte(CODE)
      wire.byte(ERROR)
    }
    wire.byte(FLAGS_FIRST)
    wire.byte(FLAGS_SECOND)
    wire.fixed32(this.#flags)
    this.#queue.added()
  }

  #id(tag: number, { words }: Id): void {
    this.#wire.byte(tag)
    this.#wire.byte(words.length * 4)
    for (const word of words) this.#wire.word(word)
  }

  #text(tag: number, text: string): void {
    const size = textSize(text)
    this.#wire.byte(tag)
    this.#wire.varint(size)
    this.#wire.text(text, size)
  }
}

const TRACE_ID = 0x0a
const SPAN_ID = 0x12
const TRACE_STATE = 0x1a
const PARENT_ID = 0x22
const NAME = 0x2a
const KIND = 0x30
const START = 0x39
const END = 0x41
const ATTRIBUTE = 0x4a
const STATUS = 0x7a
/** Field 16 has a tag of two bytes. */
const FLAGS_FIRST = 0x85
const FLAGS_SECOND = 0x01
const MESSAGE = 0x12
const CODE = 0x18
const ERROR = 2

const SAMPLED = 1
const KNOWS_PARENT = 0x100
const REMOTE_PARENT = 0x200
/** The length of `tracestate` that every participant must keep. */
const LONGEST_STATE = 512
