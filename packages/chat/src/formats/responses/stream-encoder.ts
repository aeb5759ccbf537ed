import type { PassedStream, ResponseContext, StreamEncoder } from '../../format.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { sseRecord } from '@portico/http/sse'
import { errorBody } from '../completions/errors.ts'
import { ResponseWriter } from './response-writer.ts'

/**
 * Writes the events of a response. Each event has a sequence number, and its type both as SSE event and in the body.
 */
export class EventWriter implements StreamEncoder {
  readonly #writer: ResponseWriter
  #written = ''
  #sequence = 0
  #isOver = false

  /**
   * `passed` is the part of the stream that the client already has: sequence numbers and the response id continue from
   * it.
   */
  constructor(context: ResponseContext, passed: PassedStream | null = null) {
    this.#writer = new ResponseWriter(context, {
      say: (type, members) => this.#say(type, members),
      delta: ({ type, json }, text) => {
        const whole = `${json}${JSON.stringify(text)},"sequence_number":${this.#sequence++}}`
        this.#written += sseRecord(whole, type)
      },
    })
    if (passed === null) return
    this.#writer.resume(passed.start)
    this.#sequence = nextSequence(passed)
  }

  event(event: ChatEvent): string {
    if (this.#isOver) return ''
    this.#writer.event(event)
    if (event.type === 'error') this.#end()
    return this.#take()
  }

  end(): string {
    if (!this.#isOver) this.#end()
    return this.#take()
  }

  #end(): void {
    this.#isOver = true
    const { status, response } = this.#writer.end()
    const { error } = this.#writer.folded
    // SDKs throw on the `error` event; the response after it is for clients that wait for the last event.
    if (error !== null) {
      const { code = null, message, param = null } = error
      this.#say('error', { code, message, param, ...errorBody(error) })
    }
    this.#say(`response.${status}`, { response })
  }

  #say(type: string, members: JsonObject): void {
    const body = { type, ...members, sequence_number: this.#sequence++ }
    this.#written += sseRecord(JSON.stringify(body), type)
  }

  #take(): string {
    const taken = this.#written
    this.#written = ''
    return taken
  }
}

/** Servers that number no records are counted. */
function nextSequence({ lastRecord, records }: PassedStream): number {
  const last = [...lastRecord.matchAll(SEQUENCE)].at(-1)?.[1]
  return last === undefined ? records : Number(last) + 1
}

/** Inside of texts quotes are escaped. */
const SEQUENCE = /"sequence_number"\s*:\s*(\d{1,15})/g

export function encodeResponse(events: readonly ChatEvent[], context: ResponseContext): JsonObject {
  const writer = new ResponseWriter(context, { say: () => {}, delta: () => {} })
  for (const event of events) writer.event(event)
  return writer.end().response
}
