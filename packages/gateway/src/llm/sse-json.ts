import { brokenStream } from './chat-error.ts'
import type { StreamDecoder } from './format.ts'
import { parseJsonObject } from '../wire/json.ts'
import type { ChatEvent, JsonObject } from './middle.ts'
import type { SseEvent } from '../wire/sse.ts'
import { SseParser } from '../wire/sse.ts'

/** What a format makes of the JSON records of one stream. */
export interface RecordReader {
  /** `event` is empty where the stream names none. */
  record(body: JsonObject, event: string): ChatEvent[]
  /** `[DONE]` came. */
  done?(): ChatEvent[]
  /** The stream ended before it had finished. */
  end(): ChatEvent[]
}

/**
 * Bytes of server-sent events to a reader of records. After `finish` or an error nothing is read any more. `parse` is for
 * formats whose records hold numbers that must not be rounded.
 */
export class SseJsonDecoder implements StreamDecoder {
  readonly #reader: RecordReader
  readonly #parse: (text: string) => JsonObject | null
  readonly #parser = new SseParser()
  readonly #specimens: Map<string, object>
  #isOver = false

  constructor(reader: RecordReader, parse: (text: string) => JsonObject | null = parseJsonObject) {
    this.#reader = reader
    this.#parse = parse
    this.#specimens = specimensOf(reader)
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
      else this.#take(this.#told(body, event, data.length), into)
    }
  }

  #told(body: JsonObject, event: string, length: number): readonly ChatEvent[] {
    const events = this.#reader.record(body, event)
    // Most records only add to a text: of those the first will do.
    const kind = events[0]?.type ?? 'none'
    if (length <= MOST_KEPT && (kind !== 'partDelta' || !this.#specimens.has(kind))) {
      this.#specimens.set(kind, [body, events])
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

  /** What was over before stays so. */
  #fail(message: string, into: ChatEvent[]): void {
    if (!this.#isOver) this.#take([{ type: 'error', error: brokenStream(message) }], into)
  }
}

/**
 * The last record of each kind that readers of a format met, and what became of it. Never read: code that V8 has optimised
 * for their shapes lives as long as they do, also over a rest, as with `pipeline/specimens.ts`.
 */
const specimensByReader = new Map<unknown, Map<string, object>>()

function specimensOf(reader: RecordReader): Map<string, object> {
  const known = specimensByReader.get(reader.constructor)
  if (known !== undefined) return known
  const made = new Map<string, object>()
  specimensByReader.set(reader.constructor, made)
  return made
}

const MOST_KEPT = 4096
