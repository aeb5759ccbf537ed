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
export function decodeSseJson(
  reader: RecordReader,
  parse: (text: string) => JsonObject | null = parseJsonObject,
): StreamDecoder {
  const parser = new SseParser()
  let isOver = false

  function take(events: ChatEvent[], into: ChatEvent[]): void {
    for (const event of events) {
      into.push(event)
      if (event.type === 'finish' || event.type === 'error') {
        isOver = true
        return
      }
    }
  }

  function fail(message: string, into: ChatEvent[]): void {
    take([{ type: 'error', error: brokenStream(message) }], into)
  }

  function read(records: SseEvent[], into: ChatEvent[]): void {
    for (const { data, event } of records) {
      if (isOver) return
      if (data === '') continue
      if (data === '[DONE]') {
        take(reader.done?.() ?? [], into)
        continue
      }
      const body = parse(data)
      if (body === null) fail('the provider sent a stream that cannot be read', into)
      else take(reader.record(body, event), into)
    }
  }

  return {
    push(chunk) {
      const events: ChatEvent[] = []
      if (isOver) return events
      read(parser.push(chunk), events)
      if (parser.isOverflown && !isOver) fail('the provider sent a record that is too long', events)
      return events
    },
    end() {
      const events: ChatEvent[] = []
      if (isOver) return events
      read(parser.end(), events)
      if (!isOver) take(reader.end(), events)
      if (!isOver) fail('the provider ended its answer too early', events)
      return events
    },
  }
}
