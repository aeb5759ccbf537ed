import { type ChatEvent, malformed, type FormatName, STREAM_BROKEN, UnsupportedField } from '@portico/chat'
import { estimateRequest } from '@portico/chat/tokens'
import { isObject, parseExactObject, parseJsonObject } from '@portico/http/json'
import type { UpstreamResponse } from '@portico/http/client'
import { collect, type HeaderBlock } from '@portico/http'
import { follow, nowOrLater } from '../../../pipeline/call/follow.ts'
import { readStart } from '../../../pipeline/body/buffered-body.ts'
import { MAX_ERROR_BYTES, NOT_NEEDED } from '../answer-faults.ts'
import { AnswerLosses } from './answer-losses.ts'
import { headersFor } from '../client-response.ts'
import { eventsOfList, isListStream, ListBody, sendGemini } from './json-list-body.ts'
import { DeferredBody, type ResponseObserver, type StreamGuard } from './stream-body.ts'
import type { FailoverCall, ModelCall } from '../failover-call.ts'
import { guardContext, noteUnexamined, noteVerdicts } from '../../../llm/guards/prompt-guards.ts'
import {
  type ClientChat,
  editChat,
  type EditedChat,
  exactBody,
  maskedChat,
  prepareChat,
  type PreparedChat,
  SentChat,
} from './prepare-chat.ts'
import { passStream } from './native-stream.ts'
import type { ReadyProvider } from '../provider.ts'
import { translateStream } from './translated-stream.ts'
import { WholeAnswer } from './whole-answer.ts'

/** One chat: edited, guarded and translated on the way to the provider, and on the way back. */
export class ChatCall implements ModelCall {
  readonly #call: FailoverCall
  readonly #chat: ClientChat
  readonly #observer: ChatObserver
  /** The chat as sent to the current provider. */
  #sent: SentChat | null = null
  /** Never read: keeping the response keeps V8's optimized code for its shape. */
  protected whole: WholeAnswer | null = null

  constructor(call: FailoverCall, chat: ClientChat) {
    call.record.operation = 'chat'
    this.#call = call
    this.#chat = chat
    this.#observer = new ChatObserver(call, chat)
  }

  // Requests to a provider.

  ask(provider: ReadyProvider): void {
    const call = this.#call
    const { rx, client } = call
    const { upstreamFormats } = call.services
    const edited = editChat(this.#chat, provider, { upstreamFormats, rx })
    if (edited instanceof UnsupportedField) return client.refuseField(edited)
    const { request: guards, shadow } = provider.guards
    if (guards === null && shadow === null) return this.#sendTo(provider, edited)
    const tries = call.attempts.count
    const body = exactBody(edited)
    const { fault } = edited.understood
    const { requestTexts } = this.#chat.format
    const read = { body, reading: fault === null ? requestTexts : malformed(requestTexts) }
    shadow?.body(rx, read, guardContext(rx, call.headers, null))
    if (guards === null) return this.#sendTo(provider, edited)
    const guarded = nowOrLater(
      guards.body(read, guardContext(rx, call.headers, null)),
      ({ outcome, notes, unexamined }) => {
        // The client may have left, or the call may have failed over, while the guards ran.
        if (!call.isCurrent(tries)) return
        noteUnexamined(rx, unexamined)
        noteVerdicts(rx, { phase: 'request', model: this.#observer.requestedModel }, notes)
        if (outcome.kind === 'reject') client.reject(outcome)
        // A mask may be misplaced in a body that does not parse as the client's format.
        else if (fault !== null && outcome.body !== body) client.refuseField(fault)
        else this.#sendTo(provider, maskedChat(edited, body, outcome.body))
      },
    )
    follow(rx, guarded)
  }

  #sendTo(provider: ReadyProvider, edited: EditedChat): void {
    const call = this.#call
    const prepared = prepareChat(edited)
    if (prepared instanceof UnsupportedField) return call.client.refuseField(prepared)
    this.#sent = new SentChat({ prepared, provider, tries: call.attempts.count }, this.#chat, call.services)
    this.#observer.sends(prepared)
    this.#note(provider, prepared)
    const { body, format } = this.#chat
    call.send(provider, prepared.call, prepared.bytes, {
      original: body.value,
      edited: edited.body,
      isStoredByDefault: format.name === 'responses',
      chat: () => (edited.understood.fault === null ? edited.understood.request : null),
    })
  }

  #note(provider: ReadyProvider, { call, isNative, losses }: PreparedChat): void {
    this.#call.rx.trace?.emit({
      type: 'llmRequest',
      provider: provider.name,
      vendor: provider.vendor.telemetryName,
      clientFormat: this.#chat.format.name,
      upstreamFormat: call.format,
      passedThrough: isNative,
      model: call.model,
      streaming: call.stream,
      losses,
    })
  }

  // Responses from a provider.

  answered(given: UpstreamResponse): void {
    const { status } = given
    const sent = this.#sent
    if (sent === null) throw new Error('a response came before any request was sent')
    if (status < 200 || status > 299) return this.#answerError(sent.prepared, given)
    const response = this.#tried(sent, given)
    if (!sent.prepared.call.stream) this.#answerWhole(sent, response)
    else if (isNamedJson(response.headers)) this.#answerEither(sent, response)
    else this.#answerStream(sent, response)
  }

  /** Returns the response with a copy of its body for shadow guards, which only report. */
  #tried({ prepared, provider, tries }: SentChat, response: UpstreamResponse): UpstreamResponse {
    const { shadow } = provider.guards
    if (shadow === null) return response
    const { rx, headers, services } = this.#call
    const decode = (bytes: Buffer): readonly ChatEvent[] | null => {
      // The copy gets decoders of its own, because decoders have state.
      const { context } = new SentChat({ prepared, provider, tries }, this.#chat, services)
      const json = prepared.call.stream && bytes[0] !== OPEN_BRACE ? null : parseExactObject(bytes.toString('utf8'))
      if (json !== null) return prepared.upstream.decodeResponse(json, context)
      if (!prepared.call.stream) return null
      const decoder = prepared.upstream.createStreamDecoder(context)
      const events = isListStream(prepared.upstream.name, bytes) ? eventsOfList(bytes) : bytes
      return [...decoder.push(events), ...decoder.end()]
    }
    const context = guardContext(rx, headers, response.headers)
    const body = shadow.answer(rx, { body: response.body, maxBytes: services.maxBytes, decode }, context)
    return { ...response, body }
  }

  /**
   * Handles JSON in response to a stream request. A provider that does not stream sends a JSON object; some providers
   * send streams under the JSON content type, which begin differently.
   */
  #answerEither(sent: SentChat, response: UpstreamResponse): void {
    const call = this.#call
    const read = readStart(response.body, 1, ({ prefix }, body) => {
      if (!call.isCurrent(sent.tries)) return body.cancel(NOT_NEEDED)
      if (prefix[0] === OPEN_BRACE) this.#answerWhole(sent, { ...response, body })
      else if (isListStream(sent.prepared.upstream.name, prefix)) {
        this.#answerStream(sent, { ...response, body: new ListBody(body) })
      } else this.#answerStream(sent, { ...response, body })
    })
    follow(call.rx, read)
  }

  #answerWhole(sent: SentChat, { status, headers, body }: UpstreamResponse): void {
    const parts = { call: this.#call, format: this.#chat.format, sent, observer: this.#observer }
    const whole = new WholeAnswer(parts, { status, headers })
    this.whole = whole
    whole.read(body)
  }

  #answerStream({ prepared, provider, context }: SentChat, { headers, body }: UpstreamResponse): void {
    const call = this.#call
    const { client, attempts } = call
    const createWork = prepared.answersAsIs ? passStream : translateStream
    const { work, guard } = createWork(this.#observer, {
      prepared,
      guards: provider.guards.response,
      format: this.#chat.format,
      context,
      guardContext: guardContext(call.rx, call.headers, headers),
      awaitsContent: attempts.hasOthers,
      redact: (text) => attempts.redact(text),
    })
    this.#observer.streams(headers, guard)
    const deferred = new DeferredBody(body, work, () => {
      const error = work.firstError
      if (client.isOver || (error !== null && call.failsOver(error, headers))) return deferred.cancel(NOT_NEEDED)
      if (error === null) {
        // Only Google's API knows JSON lists of responses, so other formats do not load the code.
        if (this.#chat.format.name === 'gemini') return sendGemini(client, this.#chat.target, headers, deferred)
        return client.send(200, headersFor(headers, 'text/event-stream'), deferred)
      }
      // Nothing was sent to the client yet, so the client gets the error with the provider's status.
      deferred.cancel(NOT_NEEDED)
      if (error.code === STREAM_BROKEN) client.noteFault(work.fault?.code ?? 'stream_unreadable', error.message)
      client.sendChatError(error, headers)
    })
    deferred.open()
  }

  /** Errors of providers keep their status, and are sent in the client's format. */
  #answerError({ answersAsIs, upstream }: PreparedChat, { status, headers, body }: UpstreamResponse): void {
    const call = this.#call
    const { client, attempts } = call
    attempts.lease?.ended()
    collect(body, MAX_ERROR_BYTES, (bytes) => {
      if (client.isOver) return
      const known = bytes ?? Buffer.alloc(0)
      if (attempts.hasOthers && call.fallsBack(upstream.decodeError(status, known))) return
      // Some vendors wrap a format but send errors in their own format.
      if (answersAsIs && isErrorOf(this.#chat.format.name, known)) return client.sendError(status, headers, known)
      client.sendChatError(upstream.decodeError(status, known), headers)
    })
  }
}

function isNamedJson(headers: HeaderBlock): boolean {
  return JSON_TYPE.test(headers.get('content-type') ?? '')
}

/** Whether the body is an error that clients of the format can read unchanged. */
function isErrorOf(format: FormatName, bytes: Buffer): boolean {
  const body = parseJsonObject(bytes.toString('utf8'))
  const error = body?.['error']
  if (!isObject(error)) return false
  if (format === 'messages') return body?.['type'] === 'error'
  return (format === 'gemini') === (error['status'] !== undefined)
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i
const OPEN_BRACE = 0x7b

/** Records what a chat's response tells: model, usage, faults, verdicts of guards, and losses of translation. */
class ChatObserver implements ResponseObserver {
  readonly #call: FailoverCall
  readonly #chat: ClientChat
  #prepared: PreparedChat | null = null
  /** Null when the request is not traced, or the response passes unchanged. */
  #losses: AnswerLosses | null = null
  #streamHeaders: HeaderBlock | null = null
  #streamGuard: StreamGuard | null = null

  constructor(call: FailoverCall, chat: ClientChat) {
    this.#call = call
    this.#chat = chat
  }

  /** Called before a chat is sent to a provider. */
  sends(prepared: PreparedChat): void {
    const { trace } = this.#call.rx
    this.#prepared = prepared
    this.#streamHeaders = null
    this.#losses = trace === null || prepared.answersAsIs ? null : new AnswerLosses(this.#chat.format.name)
  }

  /** Called when a stream begins. */
  streams(headers: HeaderBlock, guard: StreamGuard | null): void {
    this.#streamHeaders = headers
    this.#streamGuard = guard
  }

  ending(): void {
    this.#call.record.isEnding = true
  }

  observe(event: ChatEvent): void {
    this.#call.record.observe(event, this.#call.services.now)
    this.#losses?.take(event)
  }

  over({ whole, records, fault }: Parameters<ResponseObserver['over']>[0]): void {
    const { record, attempts, client, services } = this.#call
    if (record.endedAt !== -1) return
    record.endedAt = services.now()
    if (fault !== null && this.#streamHeaders !== null) {
      attempts.judgeError(fault.error, this.#streamHeaders)
      client.noteFault(fault.code, fault.error.message)
    }
    if (this.#streamGuard !== null) this.#noteStreamGuard(this.#streamGuard)
    this.#noteLosses()
    attempts.lease?.ended()
    if (whole && fault === null && this.#streamHeaders !== null) this.#call.answerComplete()
    if ((whole && record.usage.output !== undefined) || record.isCached) return
    // A stream that broke off is charged for what came, about one token per record, and for the estimated input when no
    // usage was reported.
    record.isEstimated = true
    if (this.#prepared !== null) record.usage.input ??= estimateRequest(this.#prepared.understood.request)
    if (record.usage.output === undefined || record.usage.output < records) record.usage.output = records
  }

  /** The status was sent before the guards had seen the whole response, so only the log shows that they rejected it. */
  #noteStreamGuard({ notes, rejection }: StreamGuard): void {
    const { rx } = this.#call
    noteVerdicts(rx, { phase: 'response', model: this.requestedModel }, notes)
    if (rejection === null) return
    rx.reason = 'PromptGuard'
    rx.error = rejection.reason
  }

  #noteLosses(): void {
    const losses = this.#losses?.losses ?? []
    if (losses.length === 0) return
    this.#call.rx.trace?.emit({ type: 'llmAnswerLosses', provider: this.#call.record.providerName, losses }, 'warn')
  }

  get requestedModel(): string | null {
    const named = this.#chat.body.value['model']
    if (typeof named === 'string' && named !== '') return named.slice(0, LONGEST_MODEL)
    return this.#call.record.requestModel || null
  }
}

/** Longest model name in records, in characters; clients choose the name. */
const LONGEST_MODEL = 256
