import { parseJsonObject, textAt } from '@portico/http/json'
import { Deadline, HeaderBlock } from '@portico/http'
import type { Endpoint } from '../engine/endpoint.ts'
import { changeNotices } from '../engine/announce.ts'
import { outwardReplay } from '../engine/outward.ts'
import type { LiveSession } from '../session/live-session.ts'
import { EventBody, eventRecord, KEEP_ALIVE, KEEP_ALIVE_MS } from './event-body.ts'
import { type EndpointCallParts, Exchange } from '../engine/exchange.ts'
import { MailAnswer, streamAddress } from './mail-answer.ts'
import { TargetStreams } from './target-streams.ts'

/** The single stream of a client of revision 2024-11-05. It stays in this worker, while any worker may serve the requests. */
export class LegacyStream {
  readonly #endpoint: Endpoint
  readonly #session: LiveSession
  readonly #handler: EndpointCallParts['handler']
  readonly #exchange: Exchange
  readonly #streams: TargetStreams
  readonly #body = new EventBody({ resumed: () => this.#streams.resume(), cancelled: (cause) => this.close(cause) })
  readonly #quiet = new Deadline(() => this.#keepAlive())
  #stopMail: (() => void) | null = null
  #isListening = false
  #isClosed = false

  constructor(endpoint: Endpoint, session: LiveSession, parts: EndpointCallParts) {
    this.#endpoint = endpoint
    this.#session = session
    this.#handler = parts.handler
    const answer = new MailAnswer(endpoint.hub, session.state.key, () => {})
    this.#exchange = new Exchange(endpoint, parts, session, answer)
    const options = { isLasting: true, canBeginAnew: true, positions: new Map<string, string>() }
    this.#streams = new TargetStreams(this.#exchange, options, {
      opened() {},
      message: (message, target) => this.#say(outwardReplay(this.#exchange, target, message).bytes.toString('utf8')),
      mark() {},
      // A target without such a stream sends no messages outside of requests.
      over() {},
    })
  }

  /** Sends the response head and the `endpoint` event; `postTo` is the path that the client posts messages to. */
  open(postTo: string): void {
    this.#stopMail = this.#endpoint.hub.listen(streamAddress(this.#session.state.key), (text) => this.#take(text))
    this.#endpoint.deadlines.set(this.#quiet, KEEP_ALIVE_MS)
    const headers = HeaderBlock.of([
      ['content-type', 'text/event-stream'],
      ['cache-control', 'no-cache, no-transform'],
      ['x-accel-buffering', 'no'],
    ])
    this.#body.push(`event: endpoint\ndata: ${postTo}\n\n`)
    this.#handler.responded({ status: 200, headers, body: this.#body })
  }

  /** Closes the stream, and ends the session, whose responses need the stream. */
  close(cause: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopMail?.()
    this.#endpoint.deadlines.clear(this.#quiet)
    this.#exchange.release()
    this.#streams.close(cause)
    this.#exchange.end()
    void this.#endpoint.sessions.end(this.#session)
  }

  #take(text: string): void {
    const mail = parseJsonObject(text)
    const message = mail === null ? undefined : textAt(mail, 'message')
    if (message !== undefined) this.#say(message)
    else if (!this.#isListening) this.#listen()
  }

  #say(text: string): boolean {
    const canTakeMore = this.#body.push(eventRecord(text, ''))
    // Responses from other workers cannot be paused, so a client that does not read is disconnected.
    if (this.#body.waitingBytes > Math.max(MOST_WAITING, 2 * this.#endpoint.maxAnswerBytes)) this.#body.abort(SLOW)
    return canTakeMore
  }

  /** Forwards messages that targets send outside of requests to the same stream. */
  #listen(): void {
    this.#isListening = true
    const told = (): void => {
      for (const notice of changeNotices()) this.#say(notice.bytes.toString('utf8'))
      if (this.#endpoint.outages !== null) for (const target of this.#endpoint.targets) this.#streams.join(target)
    }
    this.#exchange.whenOver(this.#endpoint.hub.whenChanged(this.#endpoint.backend, told))
    for (const target of this.#endpoint.targets) if (this.#session.knows(target)) this.#streams.listen(target)
  }

  #keepAlive(): void {
    if (this.#isClosed) return
    this.#body.push(KEEP_ALIVE)
    this.#endpoint.deadlines.set(this.#quiet, KEEP_ALIVE_MS)
  }
}

const MOST_WAITING = 32 * 1024 * 1024
const SLOW = new Error('the client does not read its stream')
