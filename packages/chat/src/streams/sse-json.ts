import { brokenStream } from '../response/chat-error.ts'
import type { StreamDecoder } from '../format.ts'
import { parseJsonObject } from '@portico/http/json'
import type { ChatEvent, JsonObject } from '../middle.ts'
import { type SseEvent, SseParser } from '@portico/http/sse'

/** Turns the JSON records of one stream into events, for one format. */
export interface RecordReader {
  /** Reads one record; `event` is empty when the stream names no events. */
  record(body: JsonObject, event: string): ChatEvent[]
  /** Called for `[DONE]`. */
  done?(): ChatEvent[]
  /** Called when the stream ended before it had finished. */
  end(): ChatEvent[]
}

/**
 * Decodes server-sent events and passes their JSON records to a `RecordReader`. Nothing is read after `finish` or an
 * error. `parse` is for formats whose records have numbers that must not be rounded.
 */
export class SseJsonDecoder implements StreamDecoder {
  readonly #reader: RecordReader
  readonly #parse: (text: string) => JsonObject | null
  readonly #parser = new SseParser()
  readonly #keepalive: Map<string, object>
  #isOver = false

  constructor(reader: RecordReader, parse: (text: string) => JsonObject | null = parseJsonObject) {
    this.#reader = reader
    this.#parse = parse
    this.#keepalive = keepaliveOf(reader)
  }

  push(chunk: Buffer): ChatEvent[] {
    const events: ChatEvent[] = []
    if (this.#isOver) return events
    this.#read(this.#parser.push(chunk), events)
    if (this.#parser.isOverflown) this.#fail('the provider sent a record that is too long', events)
    return events
  }

  end(): ChatEvent[] {
    const events: ChatEvent[] = []
    if (this.#isOver) return events
    this.#read(this.#parser.end(), events)
    if (!this.#isOver) this.#take(this.#reader.end(), events)
    this.#fail('the provider ended its answer too early', events)
    return events
  }

  #read(records: readonly SseEvent[], into: ChatEvent[]): void {
    for (const { data, event } of records) {
      if (this.#isOver) return
      if (data === '') continue
      if (data === '[DONE]') {
        this.#take(this.#reader.done?.() ?? [], into)
        continue
      }
      const body = this.#parse(data)
      if (body === null) this.#fail('the provider sent a stream that cannot be read', into)
      else this.#take(this.#readRecord(body, event, data.length), into)
    }
  }

  #readRecord(body: JsonObject, event: string, length: number): readonly ChatEvent[] {
    const events = this.#reader.record(body, event)
    // Most records only extend a text; the first such record suffices.
    const kind = events[0]?.type ?? 'none'
    if (length <= MOST_KEPT && (kind !== 'partDelta' || !this.#keepalive.has(kind))) {
      this.#keepalive.set(kind, [body, events])
    }
    return events
  }

  #take(events: readonly ChatEvent[], into: ChatEvent[]): void {
    for (const event of events) {
      into.push(event)
      if (event.type === 'finish' || event.type === 'error') {
        this.#isOver = true
        return
      }
    }
  }

  /** Emits an error, unless the stream is already over. */
  #fail(message: string, into: ChatEvent[]): void {
    if (!this.#isOver) this.#take([{ type: 'error', error: brokenStream(message) }], into)
  }
}

/**
 * The last record of each kind that the readers of a format saw, with its events. The values are never read: keeping
 * them keeps V8's optimized code for their shapes while the gateway is idle, as the pipeline's keepalive objects do for
 * requests.
 */
const keepaliveByReader = new Map<unknown, Map<string, object>>()

function keepaliveOf(reader: RecordReader): Map<string, object> {
  const known = keepaliveByReader.get(reader.constructor)
  if (known !== undefined) return known
  const made = new Map<string, object>()
  keepaliveByReader.set(reader.constructor, made)
  return made
}

const MOST_KEPT = 4096
