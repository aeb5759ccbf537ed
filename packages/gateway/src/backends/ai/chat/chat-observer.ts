import { estimateRequest } from '@portico/chat/tokens'
import type { ChatEvent } from '@portico/chat'
import type { HeaderBlock } from '@portico/http'
import { AnswerLosses } from './answer-losses.ts'
import type { FailoverCall } from '../failover-call.ts'
import { noteVerdicts } from '../guard-reports.ts'
import type { ClientChat, PreparedChat } from './prepare-chat.ts'
import type { ResponseObserver, StreamGuard } from './stream-work.ts'

/** Records what a chat's response tells: model, usage, faults, verdicts of guards, and losses of translation. */
export class ChatObserver implements ResponseObserver {
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
    this.#losses = trace === null || prepared.answersAsIs ? null : new AnswerLosses(this.#chat.format.name)
  }

  /** Called when a stream begins. */
  streams(headers: HeaderBlock, guard: StreamGuard | null): void {
    this.#streamHeaders = headers
    this.#streamGuard = guard
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
    if (whole && record.usage.output !== undefined) return
    // A stream that broke off is charged for what came, about one token per record, and for the estimated input when no
    // usage was reported.
    record.isEstimated = true
    if (this.#prepared !== null) record.usage.input ??= estimateRequest(this.#prepared.asked.request)
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

  /** The model that the client named, for records of guards; the model of the provider if the client named none. */
  get requestedModel(): string | null {
    const named = this.#chat.body.value['model']
    if (typeof named === 'string' && named !== '') return named.slice(0, LONGEST_MODEL)
    return this.#call.record.requestModel || null
  }
}

/** Longest model name in records, in characters; clients choose the name. */
const LONGEST_MODEL = 256
