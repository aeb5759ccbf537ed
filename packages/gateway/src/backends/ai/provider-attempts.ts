import { type ChatError, STREAM_BROKEN } from '@portico/chat'
import { type EndpointLease, UpstreamError, type UpstreamResponse } from '@portico/http/client'
import type { HeaderBlock } from '@portico/http'
import type { Provider } from '../../llm/providers/provider.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { speaksAgainst } from '../../pipeline/call/unhealthy.ts'
import type { LlmRecord, ProviderAttempt } from '../../records/llm-record.ts'
import { redactRepeated } from '../../redaction/repeated-credentials.ts'
import { UNREADABLE } from './answer-faults.ts'
import type { ReadyProvider } from './provider.ts'
import type { ChosenProvider, ProviderGroups } from './select-provider.ts'

/** A fault of a response that its status does not show. */
export type AnswerFault = 'error_in_body' | 'unreadable'

type ResponseHead = Pick<UpstreamResponse, 'status' | 'headers'>

/** The providers that one call tries, one after the other: the lease, the health and the record of each. */
export class ProviderAttempts {
  /** The lease of the current provider; null before the first one. */
  lease: EndpointLease | null = null
  provider: ReadyProvider | null = null
  readonly #rx: RequestContext
  readonly #providers: ProviderGroups
  readonly #redirectsFail: boolean
  readonly #tried = new Set<ReadyProvider>()
  /** Null when the current attempt has no record. */
  #attempt: ProviderAttempt | null = null
  #outgoing: OutgoingRequest | null = null

  /** `redirectsFail` says whether a redirect counts as a failure of the provider. */
  constructor(rx: RequestContext, providers: ProviderGroups, redirectsFail: boolean) {
    this.#rx = rx
    this.#providers = providers
    this.#redirectsFail = redirectsFail
  }

  /** The number of providers tried so far. Callers compare it to detect that the call has moved to another provider. */
  get count(): number {
    return this.#tried.size
  }

  /** Whether an untried provider is left. */
  get hasOthers(): boolean {
    return this.#tried.size < this.#providers.count
  }

  /** Chooses an untried provider, of `vendor` if given; null when none is left. */
  choose(vendor?: Provider['name']): ChosenProvider | null {
    return this.#providers.next(this.#tried, vendor)
  }

  /** Makes a chosen provider the current one. */
  begin({ provider, lease }: ChosenProvider): void {
    this.#tried.add(provider)
    this.lease?.ended()
    this.lease = lease
    this.provider = provider
    this.#attempt = null
    this.#outgoing = null
  }

  /** Called before a request is sent. Several requests to one provider are one attempt in the record. */
  sends(outgoing: OutgoingRequest, record: LlmRecord | null): void {
    this.#outgoing = outgoing
    if (this.provider === null) return
    this.#attempt ??= record?.asked(this.provider.name, this.provider.vendor.telemetryName) ?? null
  }

  isUnhealthy(response: ResponseHead): boolean {
    return speaksAgainst(this.provider?.connection.unhealthyCondition ?? null, this.#rx, response)
  }

  /** Judges the provider by a response, for its health, logs and metrics; returns whether to try another provider. */
  judge(response: ResponseHead, fault?: AnswerFault): boolean {
    const { status } = response
    const isUnhealthy = this.isUnhealthy(response)
    this.lease?.answered(isUnhealthy, status)
    const isFailure =
      isUnhealthy ||
      (this.#redirectsFail && status >= 300 && status < 400) ||
      status === 429 ||
      status >= 500 ||
      (this.#rx.retry?.codes.has(status) ?? false)
    this.settle(fault ?? String(status), isFailure)
    return isFailure
  }

  /**
   * Judges the provider by an error in the body: an error counts as its status would, and a broken stream counts as a
   * failure whatever the unhealthy condition says.
   */
  judgeError(error: ChatError, headers: HeaderBlock): boolean {
    if (error.code === STREAM_BROKEN) this.lease?.failed()
    const isUnreadable = error === UNREADABLE || error.code === STREAM_BROKEN
    return this.judge({ status: error.status, headers }, isUnreadable ? 'unreadable' : 'error_in_body')
  }

  /** Called when the provider gave no response. */
  failed(error: UpstreamError): void {
    this.lease?.failed(error)
    this.settle(error.code, true)
  }

  /** Called when the client has left, or the gateway has given up. */
  cancel(cause: Error): void {
    if (cause instanceof UpstreamError) {
      this.lease?.failed(cause)
      this.settle(cause.code, true)
    } else this.lease?.ended()
    this.settleOpen('cancelled')
  }

  /** Records the outcome of an attempt that has none yet. */
  settleOpen(outcome: string): void {
    if (this.#attempt?.outcome === '') this.settle(outcome, false)
  }

  /** Records the outcome of the current attempt for logs and metrics. */
  settle(outcome: string, hasFailed: boolean): void {
    if (this.#attempt === null) return
    this.#attempt.outcome = outcome
    this.#attempt.hasFailed = hasFailed
  }

  /** The text without the credentials that the gateway sent to the provider. */
  redact(text: string): string {
    const [outgoing, provider] = [this.#outgoing, this.provider]
    return outgoing === null || provider === null ? text : redactRepeated(text, outgoing, provider)
  }
}
