import { type ClientFormat, type JsonObject, UnsupportedField, type UpstreamFormat } from '@portico/chat'
import { MediaAnswer } from '@portico/chat/media'
import { collect } from '@portico/http'
import { joinEdits } from '@portico/http/json'
import type { UpstreamResponse } from '@portico/http/client'
import type { EditedRequest } from '../../../llm/edits/request-edits.ts'
import {
  guardContext,
  noteUnexamined,
  noteUnguarded,
  noteVerdicts,
  type RequestGuards,
} from '../../../llm/guards/prompt-guards.ts'
import type { ProviderCall } from '../../../llm/providers/provider.ts'
import { follow, nowOrLater } from '../../../pipeline/call/follow.ts'
import { wholeBody } from '../../../pipeline/context/body-use.ts'
import type { FailoverCall, ModelCall } from '../failover-call.ts'
import { masksOf } from '../jobs/edited-body.ts'
import { noteJob, passAnswer } from '../jobs/pass-answer.ts'
import type { ReadyProvider } from '../provider.ts'
import type { FormBody } from './form-body.ts'
import { FORM_CALLS, type FormKind } from './form-calls.ts'
import { nameOfField } from './form-fields.ts'
import { GuardedAnswer } from './guarded-answer.ts'
import { SentForm } from './sent-form.ts'

interface FormCallParts {
  readonly kind: FormKind
  readonly form: FormBody
  /** The model in the client's path, for clients that name it nowhere else. */
  readonly pathModel: string | null
  readonly target: string
  readonly format: ClientFormat & UpstreamFormat
}

/** A call whose request is a form with files, which flow to the provider while they arrive. */
export class FormCall implements ModelCall {
  readonly #call: FailoverCall
  readonly #parts: FormCallParts
  #provider: ReadyProvider | null = null
  /** The fields of the request that is on its way. */
  #sent: JsonObject = {}

  constructor(call: FailoverCall, parts: FormCallParts) {
    call.record.operation = FORM_CALLS[parts.kind].operation
    this.#call = call
    this.#parts = parts
  }

  ask(provider: ReadyProvider): void {
    const call = this.#call
    const { kind, form } = this.#parts
    this.#provider = provider
    if (!provider.vendor.calls.has(kind)) {
      return call.client.refuseField(new UnsupportedField('model', `${provider.vendor.name} has no calls of this type`))
    }
    const isRead = provider.connection.requestBody !== 'none'
    const guards = provider.guards.request
    if (guards === null && !isRead) return this.#send(provider, null)
    const tries = call.attempts.count
    // A guard examines all fields before anything is sent, wherever the client has put them.
    form.hold({ fields: [], isWhole: true }, (problem) => {
      if (!call.isCurrent(tries)) return
      if (problem !== null) return call.client.refuseField(problem)
      if (isRead) call.rx.bufferedBody = wholeBody(form.bytes())
      if (guards === null) this.#send(provider, null)
      else this.#guard(provider, guards)
    })
  }

  #guard(provider: ReadyProvider, guards: RequestGuards): void {
    const call = this.#call
    const { rx, client, attempts } = call
    const { kind, form } = this.#parts
    const tries = attempts.count
    const { body } = this.#edited(provider, form.fields)
    // The content of files stands in the body by a mark, so that a guard which cannot examine it says so.
    const marked = Object.fromEntries([
      ...form.files.names.map((name) => [nameOfField(name), '<file>']),
      ...Object.entries(body),
    ])
    const guarded = guards.body(
      { body: marked, reading: FORM_CALLS[kind].reading },
      guardContext(rx, call.headers, null),
    )
    const done = nowOrLater(guarded, ({ outcome, notes, unexamined }) => {
      // The client may have left, or the call may have failed over, while the guards ran.
      if (!call.isCurrent(tries)) return
      noteVerdicts(rx, { phase: 'request', model: call.record.requestModel || null }, notes)
      noteUnexamined(rx, unexamined)
      if (outcome.kind === 'reject') client.reject(outcome)
      else this.#send(provider, { before: marked, after: outcome.body })
    })
    follow(rx, done)
  }

  #edited({ edits }: ReadyProvider, fields: JsonObject): EditedRequest {
    return edits.request(fields, this.#parts.pathModel, this.#call.rx)
  }

  #send(provider: ReadyProvider, guarded: { before: JsonObject; after: JsonObject } | null): void {
    const call = this.#call
    const { kind, form, target } = this.#parts
    const masks = guarded === null ? new Map() : masksOf(guarded.before, guarded.after)
    const edits = (fields: JsonObject) => joinEdits(this.#edited(provider, fields).edits, masks)
    const body = SentForm.create(form, edits, call.services.newBoundary)
    if (body instanceof UnsupportedField) return call.client.refuseField(body)
    const { model, body: fields } = this.#edited(provider, form.fields)
    this.#sent = fields
    const stream = fields.stream === true
    const sent: ProviderCall = { kind, format: 'completions', model, stream, clientTarget: target }
    const { operation } = FORM_CALLS[kind]
    noteJob(call.rx, provider, { call: sent, from: `${operation}.openai`, to: `${operation}.openai`, losses: [] })
    const headers = call.headers.clone()
    for (const name of ['content-length', 'content-type', 'accept-encoding']) headers.remove(name)
    headers.addChecked('content-type', body.contentType)
    // Usage cannot be read from a compressed response.
    headers.addChecked('accept-encoding', 'identity')
    call.sendRequest(provider, sent, {
      method: 'POST',
      target: '',
      authority: '',
      headers,
      body,
      upgrade: '',
      teTrailers: false,
    })
  }

  answered(response: UpstreamResponse): void {
    if (response.status > 299) return this.#answerError(response)
    const call = this.#call
    const { record } = call
    const { headers } = response
    const contentType = headers.get('content-type')
    // The field may have come after the file.
    if (/^text\/event-stream/i.test(contentType ?? '')) record.streaming = true
    const { units, answersText } = FORM_CALLS[this.#parts.kind]
    const answer = new MediaAnswer(record, contentType, units(this.#sent))
    const guards = this.#provider?.guards.response ?? null
    if (!answersText) noteUnguarded(call.rx, { request: null, response: guards })
    if (guards === null || !answersText) passAnswer(call, response, answer)
    else new GuardedAnswer(call, guards, { response, answer }).read()
  }

  #answerError({ status, headers, body }: UpstreamResponse): void {
    const call = this.#call
    const { client, attempts, record, services } = call
    const tries = attempts.count
    collect(body, services.maxBytes, (bytes, cause) => {
      if (!call.isCurrent(tries)) return
      if (cause !== null) attempts.lease?.failed()
      const error = this.#parts.format.decodeError(status, bytes ?? Buffer.alloc(0))
      if (call.fallsBack(error)) return
      record.endedAt = services.now()
      client.sendChatError(error, headers)
    })
  }
}
