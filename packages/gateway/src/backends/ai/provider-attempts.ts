import { type ChatError, STREAM_BROKEN, UnsupportedField } from '@portico/chat'
import {
  type EndpointLease,
  UpstreamError,
  type UpstreamResponse,
  choose,
  type Endpoints,
  type Standing,
  type UpstreamCall,
  type UpstreamHandler,
} from '@portico/http/client'
import type { HeaderBlock } from '@portico/http'
import type { Provider, ProviderCall } from '../../llm/providers/provider.ts'
import type { OutgoingRequest } from '../../pipeline/context/outgoing.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'
import { marksUnhealthy, sendAttempt } from '../../pipeline/call/attempt.ts'
import type { LlmRecord, ProviderAttempt } from '../../records/llm-record.ts'
import { redactRepeated } from '../../redaction/repeated-credentials.ts'
import { UNREADABLE } from './answer-faults.ts'
import type { ReadyProvider } from './provider.ts'
import { VENDOR_CREDENTIAL_HEADERS, withholdClientHeaders } from '../../redaction/credential-names.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { CallContext } from '../../pipeline/context/step.ts'

/** A fault of a response that its status does not show. */
type AnswerFault = 'error_in_body' | 'unreadable'

type ResponseHead = Pick<UpstreamResponse, 'status' | 'headers'>

/** The providers that one call tries, one after the other: the lease, the health and the record of each. */
export class ProviderAttempts {
  /** The lease of the current provider; null before the first one. */
  lease: EndpointLease | null = null
  provider: ReadyProvider | null = null
  readonly #rx: RequestContext
  readonly #providers: ProviderChoice
  readonly #redirectsFail: boolean
  readonly #tried = new Set<ReadyProvider>()
  /** Null when the current attempt has no record. */
  #attempt: ProviderAttempt | null = null
  #outgoing: OutgoingRequest | null = null

  /** `redirectsFail` says whether a redirect counts as a failure of the provider. */
  constructor(rx: RequestContext, providers: ProviderChoice, redirectsFail: boolean) {
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
  choose(vendor?: Provider['name'], failure: ProviderFailure | null = null): ChosenProvider | null {
    return this.#providers.next(this.#tried, vendor, failure)
  }

  /** Whether the config has a fallback for an error that would otherwise go to the client. */
  fallsBack(failure: ProviderFailure): boolean {
    return this.hasOthers && (this.#providers.fallsBack?.(failure) ?? false)
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
    this.#attempt ??= record?.addAttempt() ?? null
  }

  isUnhealthy(response: ResponseHead): boolean {
    return marksUnhealthy(this.provider?.connection.unhealthyCondition ?? null, this.#rx, response)
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

  /** Called when the response cache answers in place of the current provider, whose health this says nothing about. */
  release(): void {
    this.lease?.ended()
    this.lease = null
  }

  /** Called when the provider gave no response. */
  failed(error: UpstreamError): void {
    this.lease?.failed(error)
    this.settle(error.code, true)
  }

  /**
   * Called when the client has left, or the gateway has given up. A provider that was silent until the timeout of the
   * request has failed.
   */
  cancel(cause: Error): void {
    if (cause instanceof UpstreamError) return this.failed(cause)
    this.lease?.ended()
    if (this.#attempt?.outcome !== '') return
    if (this.#rx.reason === 'Timeout') this.settle('timeout', true)
    else this.settle('cancelled', false)
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

export interface ChosenProvider {
  provider: ReadyProvider
  /** The provider's endpoint, in use until the call has ended. */
  lease: EndpointLease
}

/** The providers that a call may try, and their order. */
export interface ProviderChoice {
  /** The number of providers that a call tries at most. */
  readonly count: number
  /**
   * Chooses the provider of the next try, of `vendor` if given, after `failure` of the one before; null when none is
   * left.
   */
  next(
    tried: ReadonlySet<ReadyProvider>,
    vendor?: Provider['name'],
    failure?: ProviderFailure | null,
  ): ChosenProvider | null
  /** Whether an error that would go to the client has a fallback. */
  fallsBack?(failure: ProviderFailure): boolean
}

/** Why a provider failed: by the status, by the error in its response, or by the failure of the call. */
export interface ProviderFailure {
  status?: number
  error?: ChatError
  cause?: UpstreamError
}

export interface ChoiceServices {
  endpoints: Pick<Endpoints, 'lease'>
  random: () => number
  monotonic: () => number
}

/** The providers of one backend, in groups of equal priority. */
export class ProviderGroups implements ProviderChoice {
  readonly #groups: readonly (readonly ReadyProvider[])[]
  readonly #services: ChoiceServices
  /** The number of providers in all groups. */
  readonly count: number

  constructor(groups: readonly (readonly ReadyProvider[])[], services: ChoiceServices) {
    this.#groups = groups
    this.#services = services
    this.count = groups.flat().length
  }

  /**
   * Chooses the provider of the next try, with its lease; null when all providers, or all of `vendor` if given, were
   * tried.
   */
  next(tried: ReadonlySet<ReadyProvider>, vendor?: Provider['name']): ChosenProvider | null {
    const { endpoints, random, monotonic } = this.#services
    // A single provider needs no comparison, and no clock.
    let now = NaN
    const standingOf = ({ endpoint, owner }: ReadyProvider): Standing => {
      if (Number.isNaN(now)) now = monotonic()
      return endpoint.standing(now, owner.health?.eviction ?? null, false)
    }
    const groups =
      vendor === undefined
        ? this.#groups
        : this.#groups.map((group) => group.filter((each) => each.vendor.name === vendor))
    const provider = selectProvider(groups, tried, standingOf, random)
    return provider === null ? null : { provider, lease: endpoints.lease(provider.owner, provider.endpoint) }
  }
}

/**
 * The provider for the next try: from the first group with a provider that is neither tried nor evicted, by power of
 * two choices within the group. Evicted providers are used when no other is left. Null when all were tried.
 */
export function selectProvider(
  groups: readonly (readonly ReadyProvider[])[],
  tried: ReadonlySet<ReadyProvider>,
  standingOf: (provider: ReadyProvider) => Standing,
  random: () => number,
): ReadyProvider | null {
  // Most backends have one provider, which is used even when evicted.
  const only = groups.length === 1 && groups[0]?.length === 1 ? groups[0][0] : undefined
  if (only !== undefined && !tried.has(only)) return only
  const left = groups.map((group) =>
    group.filter((provider) => !tried.has(provider)).map((provider) => ({ provider, standing: standingOf(provider) })),
  )
  const usable = left.map((group) => group.filter(({ standing }) => !standing.evicted))
  const group = [...usable, ...left].find(({ length }) => length > 0)
  if (group === undefined) return null
  const standings = group.map(({ standing }) => standing)
  return group[choose(standings, random)]?.provider ?? null
}

interface SendParts {
  outgoing: OutgoingRequest
  rx: RequestContext
  context: CallContext
  handler: UpstreamHandler
  /** False when the caller no longer needs the response. */
  isWanted: () => boolean
  bug: (error: unknown) => void
  /** Called when the request cannot be sent. */
  refused: (why: Failure | UnsupportedField) => void
  sent: (call: UpstreamCall) => void
}

/** Sends a call with the host, path, policies and headers of the provider. */
export function sendTo(provider: ReadyProvider, call: ProviderCall, parts: SendParts): void {
  const { outgoing, rx, context, handler, isWanted, bug, refused, sent } = parts
  const { vendor, credential } = provider
  const isRerank = call.kind === 'rerank'
  const connection = (isRerank ? provider.rerankConnection : null) ?? provider.connection
  const path = vendor.target(call)
  if (path instanceof UnsupportedField) return refused(path)
  if (credential.by === 'nobody') noteWithheldKey(rx, provider, outgoing)
  withholdClientHeaders(outgoing.headers, { keepsKey: credential.by === 'client' })
  outgoing.target = path
  outgoing.authority = ((isRerank ? vendor.rerankDestination : null) ?? vendor.destination).authority
  const finish = (): void => vendor.finishHeaders(outgoing.headers, call, credential)
  sendAttempt(connection, { outgoing, rx, context, handler, isWanted, bug, refused, sent, finish })
}

/** Notes in the trace that the client's key was withheld, which may be why the provider refuses the call. */
function noteWithheldKey({ trace }: RequestContext, { name }: ReadyProvider, { headers }: OutgoingRequest): void {
  if (trace === null || !VENDOR_CREDENTIAL_HEADERS.some((header) => headers.has(header))) return
  const reason = "the client's key is for the first provider of the backend, and this one has no `auth` policy"
  trace.emit({ type: 'llmKeyWithheld', provider: name, reason }, 'warn')
}
