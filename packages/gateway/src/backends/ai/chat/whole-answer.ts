import { estimateAnswer } from '@portico/chat/tokens'
import { type JsonObject, parseExactObject, parseJsonObject } from '@portico/http/json'
import type { ChatEvent, ClientFormat } from '@portico/chat'
import type { UpstreamResponse } from '@portico/http/client'
import { type Source, sourceOf } from '@portico/http'
import { follow, nowOrLater } from '../../../pipeline/call/follow.ts'
import { type ResponseGuards, guardContext, noteVerdicts } from '../../../llm/guards/prompt-guards.ts'
import type { BufferedBody } from '../../../pipeline/context/body-use.ts'
import { observeStart, type StartObserver } from '../../../pipeline/body/buffered-body.ts'
import { NOT_NEEDED, tooLarge, UNREADABLE } from '../answer-faults.ts'
import type { ResponseObserver } from './stream-body.ts'
import { headersFor } from '../client-response.ts'
import type { FailoverCall } from '../failover-call.ts'
import { sendGemini } from './json-list-body.ts'
import type { SentChat } from './prepare-chat.ts'

interface AnswerParts {
  call: FailoverCall
  format: ClientFormat
  sent: SentChat
  observer: ResponseObserver
}

/** A chat's response that is read whole. A client that asked for a stream gets a stream that is encoded from it. */
export class WholeAnswer implements StartObserver {
  readonly #call: FailoverCall
  readonly #format: ClientFormat
  readonly #sent: SentChat
  readonly #observer: ResponseObserver
  readonly #head: Pick<UpstreamResponse, 'status' | 'headers'>
  /** Whether the client gets the body in the upstream's format. */
  readonly #answersAsIs: boolean
  /**
   * The parsed response and its encodings. They are not read again: keeping them keeps V8's optimized code for their
   * shapes.
   */
  protected body: JsonObject | null = null
  protected events: readonly ChatEvent[] | null = null
  protected encoded: JsonObject | null = null

  constructor({ call, format, sent, observer }: AnswerParts, head: Pick<UpstreamResponse, 'status' | 'headers'>) {
    this.#call = call
    this.#format = format
    this.#sent = sent
    this.#observer = observer
    this.#head = head
    this.#answersAsIs = sent.prepared.answersAsIs && !sent.prepared.call.stream
  }

  read(body: Source): void {
    observeStart(body, this.#call.services.maxBytes, this)
  }

  started({ whole }: BufferedBody, rest: Source, cause: Error | null): void {
    const call = this.#call
    const { client, attempts, services } = call
    if (!call.isCurrent(this.#sent.tries)) return rest.cancel(NOT_NEEDED)
    const { status, headers } = this.#head
    const guards = this.#sent.provider.guards.response
    const passes = this.#answersAsIs && guards === null
    const text = whole?.toString('utf8') ?? null
    // Ids in tool arguments may be larger than a double can represent, so a body that is written again is read exactly.
    const body = text === null ? null : passes ? parseJsonObject(text) : parseExactObject(text)
    const events = body === null ? null : passes ? this.#glance(body) : this.#observed(body)
    this.body = body
    this.events = events
    const isTooLarge = whole === null && cause === null
    if (isTooLarge && !passes) rest.cancel(NOT_NEEDED)
    const error = isTooLarge
      ? tooLarge(services.maxBytes)
      : events === null
        ? UNREADABLE
        : events.find((event) => event.type === 'error')?.error
    if (cause !== null) attempts.lease?.failed()
    if (error !== undefined && !isTooLarge && call.failsOver(error, headers)) return
    const isWhole = events !== null
    this.#observer.over({ whole: isWhole, records: this.#uncounted(), fault: null })
    if (isWhole && error === undefined && cause === null) call.answerComplete()
    // The body is too large to parse here, or has more than the format describes: it passes, and the client decides.
    if (passes && (isTooLarge || (body !== null && cause === null))) {
      return error === undefined || whole === null
        ? client.send(status, headers, rest)
        : client.sendError(status, headers, whole)
    }
    if (isTooLarge) return client.refuseAnswer(tooLarge(services.maxBytes), 'answer_too_large')
    if (cause !== null) return client.refuseAnswer(UNREADABLE, 'connection_lost', cause.message)
    if (events === null) return client.refuseAnswer(UNREADABLE, 'answer_unreadable')
    if (error !== undefined) return client.sendChatError(error)
    if (guards === null) this.#send(events)
    else if (this.#answersAsIs) this.#guardBytes(guards, whole ?? Buffer.alloc(0))
    else this.#guardEvents(guards, events)
  }

  /** An estimate of the output tokens when the response was parsed but reports no usage; otherwise 0. */
  #uncounted(): number {
    const { body, events } = this
    if (body === null || events === null || this.#call.record.usage.output !== undefined) return 0
    const { prepared, context } = this.#sent
    const said = events === NO_EVENTS ? prepared.upstream.decodeResponse(body, context) : events
    return estimateAnswer(said ?? [])
  }

  /**
   * Reads only metadata or an error from a response that passes unchanged. Null when the body is not a response in the
   * provider's format.
   */
  #glance(body: JsonObject): readonly ChatEvent[] | null {
    const facts = this.#format.plainFacts?.(body) ?? null
    if (facts === null) return this.#observed(body)
    this.#call.record.observeWhole(facts)
    return NO_EVENTS
  }

  /** Decodes the response and observes its events. Null when the body is not a response in the provider's format. */
  #observed(body: JsonObject): ChatEvent[] | null {
    const { prepared, context } = this.#sent
    const events = prepared.upstream.decodeResponse(body, context)
    for (const event of events ?? []) this.#observer.observe(event)
    return events
  }

  #guardBytes(guards: ResponseGuards, bytes: Buffer): void {
    const { rx, headers: requestHeaders, client } = this.#call
    const { headers } = this.#head
    const answer = { json: bytes.toString('utf8'), texts: this.#format.texts }
    const guarded = nowOrLater(guards.body(answer, guardContext(rx, requestHeaders, headers)), ({ body, notes }) => {
      if (client.isOver) return
      noteVerdicts(rx, { phase: 'response', model: this.#observer.requestedModel }, notes)
      if (body === null) return client.refuseAnswer(UNREADABLE, 'answer_unreadable')
      if (body.kind === 'reject') return client.reject(body)
      const written = body.json === answer.json ? bytes : Buffer.from(body.json)
      client.send(200, headersFor(headers, 'application/json'), sourceOf(written))
    })
    follow(rx, guarded)
  }

  #guardEvents(guards: ResponseGuards, events: readonly ChatEvent[]): void {
    const { rx, headers: requestHeaders, client } = this.#call
    const guarded = nowOrLater(
      guards.events(events, guardContext(rx, requestHeaders, this.#head.headers)),
      ({ answer, notes }) => {
        if (client.isOver) return
        noteVerdicts(rx, { phase: 'response', model: this.#observer.requestedModel }, notes)
        if (answer.kind === 'reject') client.reject(answer)
        else this.#send(answer.events)
      },
    )
    follow(rx, guarded)
  }

  /** Sends the events in the client's format, as a stream if the client asked for one. */
  #send(events: readonly ChatEvent[]): void {
    const { prepared, context } = this.#sent
    const { headers } = this.#head
    if (!prepared.call.stream) {
      this.encoded = this.#format.encodeResponse(events, context)
      return this.#call.client.sendJson(200, this.encoded, headers)
    }
    const encoder = this.#format.createStreamEncoder(context)
    const stream = events.map((event) => encoder.event(event)).join('') + encoder.end()
    const body = sourceOf(Buffer.from(stream))
    const { client } = this.#call
    if (this.#format.name === 'gemini') sendGemini(client, prepared.call.clientTarget, headers, body)
    else client.send(200, headersFor(headers, 'text/event-stream'), body)
  }
}

const NO_EVENTS: readonly ChatEvent[] = []
