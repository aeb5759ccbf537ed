import type { FormatName } from '@portico/chat'
import { type HeaderBlock, type Source, ThroughBody } from '@portico/http'
import { SseData } from '@portico/http/sse'
import { type ClientResponse, headersFor } from '../client-response.ts'
import { asksForList } from '../gemini-request.ts'
import { JsonList } from './json-list.ts'
import { SseRecords } from './sse-records.ts'
import { UnreadableStream } from './stream-body.ts'

/**
 * Google's API streams a JSON list of responses unless the request asks for server-sent events. The gateway works on
 * events only: it turns a provider's list into events first, and turns events into a list last.
 */

/** Whether a response stream begins as a JSON list. */
export function isListStream(upstream: FormatName, prefix: Buffer): boolean {
  return upstream === 'gemini' && prefix[0] === OPEN_BRACKET
}

/** Turns a provider's JSON list of responses into server-sent events. */
export class ListBody extends ThroughBody {
  readonly #list = new JsonList(MAX_ELEMENT_BYTES)

  override get length(): number {
    return -1
  }

  override abort(cause: Error): void {
    if (this.#list.failure === null) super.abort(cause)
  }

  override write(chunk: Buffer): void {
    if (this.#list.failure !== null) return
    const events = eventsOf(this.#list.push(chunk))
    if (events.length > 0) super.write(events)
    const { failure } = this.#list
    if (failure === null) return
    const cause = new UnreadableStream(failure)
    this.body.cancel(cause)
    super.abort(cause)
  }

  override end(): void {
    if (this.#list.failure !== null) return
    const rest = lastEvent(this.#list)
    if (rest.length > 0) super.write(rest)
    super.end(null)
  }
}

/** Returns a buffered JSON list as events; the list may have been cut at a limit. */
export function eventsOfList(bytes: Buffer): Buffer {
  const list = new JsonList(MAX_ELEMENT_BYTES)
  const events = eventsOf(list.push(bytes))
  // A malformed list becomes an event that is no JSON, which the reader of events reports.
  const rest = list.failure === null ? lastEvent(list) : Buffer.from(`data: (${list.failure})\n\n`)
  return Buffer.concat([events, rest])
}

function eventsOf(elements: readonly Buffer[]): Buffer {
  return Buffer.concat(elements.flatMap((element) => [DATA, inOneLine(element), RECORD_END]))
}

/** Returns the incomplete last element of the list as an incomplete event. */
function lastEvent(list: JsonList): Buffer {
  const rest = list.rest()
  return rest.length === 0 ? rest : Buffer.concat([DATA, inOneLine(rest)])
}

/** Replaces line breaks by spaces, because an event's data is one line. JSON has line breaks only outside of strings. */
function inOneLine(element: Buffer): Buffer {
  for (let at = 0; at < element.length; at++) if (element[at] === LF || element[at] === CR) element[at] = SPACE
  return element
}

/** Sends a stream of events to a client of Google's API, as events or as the JSON list that the client asked for. */
export function sendGemini(client: ClientResponse, target: string, headers: HeaderBlock, body: Source): void {
  if (!asksForList(target)) return client.send(200, headersFor(headers, 'text/event-stream'), body)
  client.send(200, headersFor(headers, 'application/json'), new EventsAsList(body))
}

/**
 * Turns events into a JSON list of their data. The list of a broken stream is never closed, so that no client takes the
 * list for complete.
 */
class EventsAsList extends ThroughBody {
  readonly #records = new SseRecords()
  #isEmpty = true

  override get length(): number {
    return -1
  }

  override write(chunk: Buffer): void {
    this.#send(this.#records.push(chunk))
  }

  override end(): void {
    this.#send([this.#records.end()])
    super.write(Buffer.from(this.#isEmpty ? '[]\n' : '\n]\n'))
    super.end(null)
  }

  #send(records: readonly Buffer[]): void {
    let text = ''
    for (const record of records) {
      const data = new SseData(record.toString('latin1')).text
      if (data === '') continue
      text += `${this.#isEmpty ? '[' : '\n,\n'}${data}`
      this.#isEmpty = false
    }
    if (text !== '') super.write(Buffer.from(text, 'latin1'))
  }
}

const OPEN_BRACKET = 0x5b
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const DATA = Buffer.from('data: ')
const RECORD_END = Buffer.from('\n\n')
/** The longest element of a list, which is as long as an event may be. */
const MAX_ELEMENT_BYTES = 16 * 1024 * 1024
