import { follow } from '../../pipeline/call/follow.ts'
import { collect, HeaderBlock, type Source, sourceOf } from '@portico/http'
import {
  type ChatEvent,
  type ClientFormat,
  type JsonObject,
  malformed,
  type ResponseContext,
  STREAM_BROKEN,
  Unsupported,
} from '@portico/chat'
import type { ExchangeContext } from '../../llm/guards/guard.ts'
import { nowOrLater } from '../../llm/guards/now-or-later.ts'
import type { ResponseGuards } from '../../llm/guards/prompt-guards.ts'
import { parseJsonObject } from '@portico/http/json'
import { estimateAnswer, estimateRequest } from '@portico/chat/tokens'
import type { BufferedBody } from '../../pipeline/context/body-use.ts'
import { observeStart, readStart, type StartObserver } from '../../pipeline/body/buffered-body.ts'
import type { UpstreamResponse } from '@portico/http/client'
import { AnswerLosses } from './answer-losses.ts'
import { AnswerContext } from './answer-context.ts'
import { HeldBody } from './held-body.ts'
import { noteUnexamined } from './note-unguarded.ts'
import {
  type ClientChat,
  editChat,
  type EditedChat,
  exactBody,
  maskedChat,
  prepareChat,
  type PreparedChat,
} from './prepare-chat.ts'
import type { ReadyProvider } from './provider.ts'
import { beginsAsObject, isErrorOf, isNamedJson, readExactly } from './read-answer.ts'
import type { NativeWork, ResponseObserver, TranslatedWork } from './response-events.ts'
import { createStreamWork, type StreamGuard } from './stream-work.ts'
import {
  type CallParts,
  type CallServices,
  headersFor,
  MAX_ERROR_BYTES,
  NOT_NEEDED,
  tooLarge,
  TriedCall,
  UNREADABLE,
} from './tried-call.ts'

interface AskedChat {
  prepared: PreparedChat
  provider: ReadyProvider
}

/** A response that is read whole. */
interface WholeAnswer extends AskedChat, Pick<UpstreamResponse, 'status' | 'headers'> {
  /** The number of the try that got this response. */
  tries: number
  /** Whether the client gets the body in the upstream's format. False for a stream, which is encoded from the body. */
  answersAsIs: boolean
  /**
   * The parsed response and its encodings. They are not read again: keeping them keeps V8's optimized code for their
   * shapes.
   */
  body: JsonObject | null
  events: readonly ChatEvent[] | null
  told: JsonObject | null
}

/** One chat: edited, guarded and translated on the way to the provider, and on the way back. */
export class ChatCall extends TriedCall implements ResponseObserver, StartObserver {
  readonly #chat: ClientChat
  /** The chat as sent to the current provider. */
  #asked: AskedChat | null = null
  /** The context of the current try; keeping it keeps V8's optimized code for its shape. */
  #context: AnswerContext | null = null
  #whole: WholeAnswer | null = null
  /** Null when the request is not traced, or the response passes unchanged. */
  #losses: AnswerLosses | null = null
  #streamHeaders: HeaderBlock | null = null
  #streamGuard: StreamGuard | null = null

  constructor(parts: CallParts, chat: ClientChat, services: CallServices) {
    super(parts, services)
    this.facts.operation = 'chat'
    this.#chat = chat
  }

  protected get format(): ClientFormat {
    return this.#chat.format
  }

  // Requests to a provider.

  protected ask(provider: ReadyProvider): void {
    const { upstreamFormats } = this.services
    const edited = editChat(this.#chat, provider, { upstreamFormats, rx: this.rx })
    if (edited instanceof Unsupported) return this.refuseField(edited)
    const guards = provider.guards.request
    if (guards === null) return this.#sendTo(provider, edited)
    const { tries } = this
    const body = exactBody(edited)
    const { fault } = edited.understood
    const { requestTexts } = this.format
    const read = { body, reading: fault === null ? requestTexts : malformed(requestTexts) }
    const guarded = nowOrLater(guards.body(read, this.#guardContext(null)), ({ outcome, notes, unexamined }) => {
      // The client may have left, or the call may have failed over, while the guards ran.
      if (this.isOver || tries !== this.tries) return
      noteUnexamined(this.rx, unexamined)
      this.noteGuards('request', notes)
      if (outcome.kind === 'reject') this.reject(outcome)
      // A mask may be misplaced in a body that does not parse as the client's format.
      else if (fault !== null && outcome.body !== body) this.refuseField(fault)
      else this.#sendTo(provider, maskedChat(edited, body, outcome.body))
    })
    follow(this.rx, guarded)
  }

  #sendTo(provider: ReadyProvider, edited: EditedChat): void {
    const prepared = prepareChat(edited)
    if (prepared instanceof Unsupported) return this.refuseField(prepared)
    this.#asked = { prepared, provider }
    this.#losses = this.rx.trace === null || prepared.answersAsIs ? null : new AnswerLosses(this.format.name)
    this.#note(provider, prepared)
    this.send(provider, prepared.call, prepared.bytes)
  }

  #note(provider: ReadyProvider, { call, isNative, losses }: PreparedChat): void {
    this.rx.trace?.emit({
      type: 'llmRequest',
      provider: provider.name,
      vendor: provider.vendor.telemetryName,
      clientFormat: this.format.name,
      upstreamFormat: call.format,
      passedThrough: isNative,
      model: call.model,
      streaming: call.stream,
      losses,
    })
  }

  // Responses from a provider.

  protected answered(response: UpstreamResponse): void {
    const { status } = response
    const asked = this.#asked
    if (asked === null) throw new Error('an answer without a question')
    if (status < 200 || status > 299) this.#answerError(asked.prepared, response)
    else if (!asked.prepared.call.stream) this.#answerWhole(asked, response)
    else if (isNamedJson(response.headers)) this.#answerEither(asked, response)
    else this.#answerStream(asked, response)
  }

  /**
   * Handles JSON in response to a stream request. A provider that does not stream sends a JSON object; some providers
   * send streams under the JSON content type, which begin differently.
   */
  #answerEither(asked: AskedChat, response: UpstreamResponse): void {
    const { tries } = this
    const read = readStart(response.body, 1, ({ prefix }, body) => {
      if (this.isOver || tries !== this.tries) return body.cancel(NOT_NEEDED)
      if (beginsAsObject(prefix)) this.#answerWhole(asked, { ...response, body })
      else this.#answerStream(asked, { ...response, body })
    })
    follow(this.rx, read)
  }

  #answerStream(asked: AskedChat, response: UpstreamResponse): void {
    this.#streamHeaders = response.headers
    const work = this.#streamWork(asked, response.headers)
    const held = new HeldBody(response.body, work, () => {
      const error = work.firstError
      if (this.isOver || (error !== null && this.failsOver(error, response.headers))) {
        return held.cancel(NOT_NEEDED)
      }
      if (error === null) return this.answer(200, headersFor(response.headers, 'text/event-stream'), held)
      // Nothing was sent to the client yet, so the client gets the error with the provider's status.
      held.cancel(NOT_NEEDED)
      if (error.code === STREAM_BROKEN) this.noteFault(work.fault?.code ?? 'stream_unreadable', error.message)
      this.refuse(error, response.headers)
    })
    held.open()
  }

  #streamWork({ prepared, provider }: AskedChat, headers: HeaderBlock): NativeWork | TranslatedWork {
    const { work, guard } = createStreamWork(this, {
      prepared,
      guards: provider.guards.response,
      format: this.format,
      context: this.#responseContext(prepared),
      guardContext: this.#guardContext(headers),
      awaitsContent: this.hasOthers,
      hide: (text) => this.hidden(text),
    })
    this.#streamGuard = guard
    return work
  }

  #answerWhole({ prepared, provider }: AskedChat, { status, headers, body }: UpstreamResponse): void {
    const answersAsIs = prepared.answersAsIs && !prepared.call.stream
    const { tries } = this
    this.#whole = { prepared, provider, status, headers, tries, answersAsIs, body: null, events: null, told: null }
    observeStart(body, this.services.maxBytes, this)
  }

  started({ whole }: BufferedBody, rest: Source, cause: Error | null): void {
    const answer = this.#whole
    if (answer === null || this.isOver || answer.tries !== this.tries) return rest.cancel(NOT_NEEDED)
    const { prepared, provider, status, headers, answersAsIs } = answer
    const guards = provider.guards.response
    const passes = answersAsIs && guards === null
    const body = whole === null ? null : passes ? parseJsonObject(whole.toString('utf8')) : readExactly(whole)
    const events = body === null ? null : passes ? this.#glance(prepared, body) : this.#observed(prepared, body)
    answer.body = body
    answer.events = events
    const isTooLarge = whole === null && cause === null
    if (isTooLarge && !passes) rest.cancel(NOT_NEEDED)
    const error = isTooLarge
      ? tooLarge(this.services.maxBytes)
      : events === null
        ? UNREADABLE
        : events.find((event) => event.type === 'error')?.error
    if (cause !== null) this.visit?.failed()
    if (error !== undefined && !isTooLarge && this.failsOver(error, headers)) return
    this.over({ whole: events !== null, records: this.#uncounted(answer), fault: null })
    // The body is too large to parse here, or has more than the format describes: it passes, and the client decides.
    if (passes && (isTooLarge || (body !== null && cause === null))) {
      return error === undefined || whole === null
        ? this.answer(status, headers, rest)
        : this.answerError(status, headers, whole)
    }
    if (isTooLarge) return this.refuseAnswer(tooLarge(this.services.maxBytes), 'answer_too_large')
    if (cause !== null) return this.refuseAnswer(UNREADABLE, 'connection_lost', cause.message)
    if (events === null) return this.refuseAnswer(UNREADABLE, 'answer_unreadable')
    if (error !== undefined) return this.refuse(error)
    if (guards === null) this.#answerEvents(prepared, events ?? [], headers)
    else if (answersAsIs) this.#guardBytes(guards, whole ?? Buffer.alloc(0), headers)
    else this.#guardEvents(guards, { prepared, events: events ?? [] }, headers)
  }

  /** An estimate of the output tokens when the response was parsed but reports no usage; otherwise 0. */
  #uncounted({ prepared, body, events }: Pick<WholeAnswer, 'prepared' | 'body' | 'events'>): number {
    if (body === null || events === null || this.facts.usage.output !== undefined) return 0
    const said = events === NO_EVENTS ? prepared.upstream.decodeResponse(body, this.#responseContext(prepared)) : events
    return estimateAnswer(said ?? [])
  }

  #guardBytes(guards: ResponseGuards, bytes: Buffer, headers: HeaderBlock): void {
    const answer = { json: bytes.toString('utf8'), texts: this.format.texts }
    const told = nowOrLater(guards.body(answer, this.#guardContext(headers)), ({ body, notes }) => {
      if (this.isOver) return
      this.noteGuards('response', notes)
      if (body === null) return this.refuseAnswer(UNREADABLE, 'answer_unreadable')
      if (body.kind === 'reject') return this.reject(body)
      const guarded = body.json === answer.json ? bytes : Buffer.from(body.json)
      this.answer(200, headersFor(headers, 'application/json'), sourceOf(guarded))
    })
    follow(this.rx, told)
  }

  #guardEvents(
    guards: ResponseGuards,
    { prepared, events }: { prepared: PreparedChat; events: readonly ChatEvent[] },
    headers: HeaderBlock,
  ): void {
    const told = nowOrLater(guards.events(events, this.#guardContext(headers)), ({ answer, notes }) => {
      if (this.isOver) return
      this.noteGuards('response', notes)
      if (answer.kind === 'reject') this.reject(answer)
      else this.#answerEvents(prepared, answer.events, headers)
    })
    follow(this.rx, told)
  }

  /**
   * Reads only metadata or an error from a response that passes unchanged. Null when the body is not a response in the
   * provider's format.
   */
  #glance(prepared: PreparedChat, body: JsonObject): readonly ChatEvent[] | null {
    const facts = this.format.plainFacts?.(body) ?? null
    if (facts === null) return this.#observed(prepared, body)
    this.facts.observeWhole(facts)
    return NO_EVENTS
  }

  /** Decodes the response and observes its events. Null when the body is not a response in the provider's format. */
  #observed(prepared: PreparedChat, body: JsonObject): ChatEvent[] | null {
    const events = prepared.upstream.decodeResponse(body, this.#responseContext(prepared))
    for (const event of events ?? []) this.observe(event)
    return events
  }

  #answerEvents(prepared: PreparedChat, events: readonly ChatEvent[], headers: HeaderBlock): void {
    const context = this.#responseContext(prepared)
    if (!prepared.call.stream) {
      const told = this.format.encodeResponse(events, context)
      if (this.#whole !== null) this.#whole.told = told
      return this.answerJson(200, told, headers)
    }
    const encoder = this.format.createStreamEncoder(context)
    const stream = events.map((event) => encoder.event(event)).join('') + encoder.end()
    this.answer(200, headersFor(headers, 'text/event-stream'), sourceOf(Buffer.from(stream)))
  }

  /** Errors of providers keep their status, and are sent in the client's format. */
  #answerError({ answersAsIs, upstream }: PreparedChat, { status, headers, body }: UpstreamResponse): void {
    this.visit?.ended()
    collect(body, MAX_ERROR_BYTES, (bytes) => {
      if (this.isOver) return
      const known = bytes ?? Buffer.alloc(0)
      // Some vendors wrap a format but send errors in their own format.
      if (answersAsIs && isErrorOf(this.format.name, known)) return this.answerError(status, headers, known)
      this.refuse(upstream.decodeError(status, known), headers)
    })
  }

  #responseContext(prepared: PreparedChat): ResponseContext {
    // The inputs of the context do not change within a try.
    if (this.#context?.isOf(prepared) === true) return this.#context
    const { clock, newId } = this.services
    const named = this.#chat.body.value['model']
    const now = Math.floor(clock() / 1000)
    this.#context = new AnswerContext(prepared, typeof named === 'string' ? named : null, now, newId)
    return this.#context
  }

  protected override get askedModel(): string | null {
    const named = this.#chat.body.value['model']
    return typeof named === 'string' && named !== '' ? named.slice(0, LONGEST_MODEL) : super.askedModel
  }

  // Guards.

  #guardContext(responseHeaders: HeaderBlock | null): ExchangeContext {
    return { requestHeaders: this.headers, responseHeaders, span: this.rx.spans?.placeOf('guardrail') ?? null }
  }

  /** The status was sent before the guards had seen the whole response, so only the log shows that they rejected it. */
  #noteStreamGuard({ notes, rejection }: StreamGuard): void {
    this.noteGuards('response', notes)
    if (rejection === null) return
    this.rx.reason = 'PromptGuard'
    this.rx.error = rejection.reason
  }

  // Metadata of the response.

  #noteLosses(): void {
    const losses = this.#losses?.losses ?? []
    if (losses.length === 0) return
    this.rx.trace?.emit({ type: 'llmAnswerLosses', provider: this.facts.providerName, losses }, 'warn')
  }

  observe(event: ChatEvent): void {
    this.facts.observe(event, this.services.now)
    this.#losses?.take(event)
  }

  over({ whole, records, fault }: Parameters<ResponseObserver['over']>[0]): void {
    const { facts } = this
    if (facts.endedAt !== -1) return
    facts.endedAt = this.services.now()
    if (fault !== null && this.#streamHeaders !== null) {
      this.faulted(fault.error, this.#streamHeaders)
      this.noteFault(fault.code, fault.error.message)
    }
    if (this.#streamGuard !== null) this.#noteStreamGuard(this.#streamGuard)
    this.#noteLosses()
    this.visit?.ended()
    if (whole && facts.usage.output !== undefined) return
    // A stream that broke off is charged for what came, about one token per record, and for the estimated input when no
    // usage was reported.
    facts.isEstimated = true
    if (this.#asked !== null) facts.usage.input ??= estimateRequest(this.#asked.prepared.asked.request)
    if (facts.usage.output === undefined || facts.usage.output < records) facts.usage.output = records
  }
}

const NO_EVENTS: readonly ChatEvent[] = []

/** Longest model name in records, in characters; clients choose the name. */
const LONGEST_MODEL = 256
