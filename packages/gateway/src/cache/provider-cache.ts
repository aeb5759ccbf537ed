import { type Deadlines, HeaderBlock, type Source, sourceOf } from '@portico/http'
import type { ChatRequest } from '@portico/chat'
import type { JsonObject } from '@portico/http/json'
import type { UpstreamResponse } from '@portico/http/client'
import type { Expression } from '../pipeline/context/step.ts'
import { containedIn } from '../pipeline/call/follow.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import type { CacheSearch } from '../records/cache-outcome.ts'
import type { AnswerLabels } from '../stores/answers/answer-store.ts'
import { type CacheControl, readCacheControl } from './cache-control.ts'
import { canonicalBody, digestOf } from './cache-key.ts'
import { defaultScope, textOfResult } from './cache-scope.ts'
import { bypassReason } from './cacheable.ts'
import type { CacheRegistry, NamedCache } from './cache-registry.ts'
import type { CacheUses } from './cache-uses.ts'
import { eventEndOf, type Pace, PacedBody } from './paced-body.ts'
import { type ComparableRequest, comparableRequest } from './semantic/comparable-request.ts'
import type { SemanticPosition, SemanticSearch } from './semantic/semantic-search.ts'
import type { SharedAnswers } from './shared-answers.ts'
import { type KeptHeaders, SharedCall, type SimilarAnswer } from './shared-call.ts'

/** A request as it would be sent to the provider. */
export interface CacheableRequest {
  readonly rx: RequestContext
  /** The client's headers after the policies of the route. */
  readonly headers: HeaderBlock
  /** The path and query at the provider. */
  readonly target: string
  readonly bytes: Buffer
  /** The model that the provider is asked for. */
  readonly model: string
  /** The body as the client sent it, for expressions. */
  readonly original: JsonObject
  /** The same body after the edits of the `ai` policy. */
  readonly edited: JsonObject
  /** Whether the client's format lets the provider store responses unless the body says otherwise. */
  readonly isStoredByDefault: boolean
  /** Returns the chat after edits and guards; null when the gateway does not understand it. Absent for other calls. */
  readonly chat?: () => ChatRequest | null
}

/** A stored answer as the provider sent it. */
interface CacheAnswer {
  readonly headers: KeptHeaders
  readonly body: Buffer
}

/** The result of looking a request up. */
type CacheLookup =
  | ({ readonly kind: 'hit'; readonly ageMs: number } & CacheAnswer)
  /** An equal request is under way. */
  | { readonly kind: 'follow'; readonly call: SharedCall }
  /** The request asks the provider, and others may follow. */
  | { readonly kind: 'lead'; readonly call: SharedCall }
  /** A store may have the answer: `isAnswered` resolves with whether the store works, then the request is looked up again. */
  | { readonly kind: 'ask'; readonly isAnswered: Promise<boolean> }

/** A request that uses the cache. */
export interface CachedRequest {
  readonly key: string
  readonly scope: string
  /** Everything that makes two requests equal, except the body. */
  readonly parts: readonly string[]
  readonly labels: AnswerLabels
  readonly control: CacheControl
  /** The position among the requests that this one may be compared with; null until it was compared. */
  position: SemanticPosition | null
}

/** The search for the answer to a similar request; without an answer, `search` says why. */
interface SimilarLookup {
  readonly answer: SimilarAnswer | null
  readonly search: CacheSearch
}

interface ComparedRequest {
  readonly source: CacheableRequest
  readonly request: CachedRequest
  readonly comparable: ComparableRequest
}

interface ProviderCacheParts {
  readonly registry: CacheRegistry
  readonly cache: NamedCache
  /** Null when the cache is not shared. */
  readonly shared: SharedAnswers | null
  /** Null when requests must be equal. */
  readonly semantic: SemanticSearch | null
  readonly recordId: (rx: RequestContext) => string | null
  readonly ttlMs: number
  /** The pace of stored streams; null when they are sent at once. */
  readonly replay: Pace | null
  readonly deadlines: Deadlines
  readonly scope: Expression | null
  readonly key: Expression | null
  readonly when: Expression | null
  /** Digest of the parts of the config that change what the provider gets. */
  readonly fingerprint: string
  /** Why no request uses the cache; null when requests do. */
  readonly bypass: string | null
  readonly now: () => number
}

/** The response cache as the calls to one provider use it. */
export class ProviderCache {
  readonly #parts: ProviderCacheParts

  constructor(parts: ProviderCacheParts) {
    this.#parts = parts
  }

  get uses(): CacheUses {
    return this.#parts.cache.uses
  }

  /** Returns the request as the cache knows it, or the reason why it bypasses the cache. */
  read(request: CacheableRequest): CachedRequest | string {
    const { rx, model } = request
    const control = readCacheControl(rx.headers.joined('cache-control'))
    rx.llmRequest = request.original
    const reason = control.noStore ? 'no-store' : this.#bypassReason(request)
    if (reason !== null) return reason
    const { scope: scopeExpression, key: keyExpression, registry } = this.#parts
    const scope = scopeExpression === null ? defaultScope(rx) : textOfResult(scopeExpression.evaluate(rx))
    if (scope === null) return scopeExpression === null ? 'no-identity' : 'scope'
    const added = keyExpression === null ? '' : textOfResult(keyExpression.evaluate(rx))
    if (added === null) return 'key'
    const parts = this.#partsOf(request, scope, added)
    const key = digestOf([...parts, registry.digests.of(request.bytes)])
    return { key, scope, parts, control, labels: { model, apiKey: rx.apiKeyName ?? '' }, position: null }
  }

  /** Looks a request up; a store is asked only once, before `isAsked`. */
  find(request: CachedRequest, isAsked: boolean): CacheLookup {
    const { cache, shared, now, ttlMs } = this.#parts
    const { key, control } = request
    const takesStored = !control.noCache && control.maxAgeMs > 0
    const underWay = takesStored ? cache.calls.get(key) : undefined
    if (shared !== null && takesStored && !isAsked && underWay === undefined && cache.memory.isDue(key, now())) {
      return { kind: 'ask', isAnswered: shared.lookUp(request) }
    }
    const answer = control.noCache ? null : cache.memory.get(key, now())
    const ageMs = answer === null ? 0 : Math.max(0, now() - answer.storedAt)
    if (answer !== null && ageMs < Math.min(ttlMs, control.maxAgeMs)) return { kind: 'hit', ...answer, ageMs }
    if (underWay !== undefined) return { kind: 'follow', call: underWay }
    return { kind: 'lead', call: this.#lead(request) }
  }

  /**
   * Looks for the answer to a similar request after no equal one was found; null when the cache or the request wants
   * none.
   */
  findSimilar(source: CacheableRequest, request: CachedRequest): SimilarLookup | Promise<SimilarLookup> | null {
    const { semantic } = this.#parts
    const { control } = request
    if (semantic === null || source.chat === undefined || control.noCache || control.maxAgeMs === 0) return null
    const chat = source.chat()
    const comparable = chat === null ? 'unreadable' : comparableRequest(chat, source.bytes, semantic.maxCharacters)
    if (typeof comparable === 'string') return { answer: null, search: { skipped: comparable } }
    return this.#searchSimilar(semantic, { source, request, comparable })
  }

  async #searchSimilar(
    semantic: SemanticSearch,
    { source: { rx }, request, comparable }: ComparedRequest,
  ): Promise<SimilarLookup> {
    const { now, ttlMs, recordId, shared } = this.#parts
    const { memory } = this.#parts.cache
    const maxAgeMs = Math.min(ttlMs, request.control.maxAgeMs)
    const isUsable = (key: string): boolean => memory.ageOf(key, now()) < maxAgeMs
    const rest = digestOf([canonicalBody(comparable.rest)])
    const { nearest, position, search } = await semantic.find(comparable, {
      rx,
      recordId: recordId(rx),
      partitionOf: (space) => digestOf([...request.parts, ...semantic.fingerprint, space, rest]),
      isUsable,
    })
    request.position = position
    if (nearest === null) return { answer: null, search }
    const { key } = nearest.neighbor
    const place = memory.isDue(key, now()) ? memory.placeOf(key) : null
    // Another gateway may have purged the answer.
    if (shared !== null && place !== null) await shared.lookUp(place)
    const ageMs = memory.ageOf(key, now())
    const stored = memory.get(key, now())
    if (stored === null || ageMs >= maxAgeMs) return { answer: null, search: {} }
    return { answer: { ...stored, ageMs, search }, search }
  }

  /** Returns a response with a stored answer. */
  replay(rx: RequestContext, { headers, body }: CacheAnswer): UpstreamResponse {
    return { status: 200, headers: HeaderBlock.of(headers), body: this.#sourceOf(rx, { headers, body }) }
  }

  #sourceOf(rx: RequestContext, { headers, body }: CacheAnswer): Source {
    const { replay, deadlines } = this.#parts
    if (replay === null) return sourceOf(body)
    const [, contentType = ''] = headers.find(([name]) => name === 'content-type') ?? []
    const eventEnd = eventEndOf(contentType)
    return eventEnd === null
      ? sourceOf(body)
      : new PacedBody(body, eventEnd, { ...replay, deadlines, contain: (run) => containedIn(rx, run) })
  }

  #bypassReason({ rx, edited, isStoredByDefault }: CacheableRequest): string | null {
    const { bypass, when } = this.#parts
    if (bypass !== null) return bypass
    if (when !== null) return when.isTrue(rx) ? null : 'when'
    return bypassReason(edited, isStoredByDefault)
  }

  /** Everything that makes two requests equal, except the body. */
  #partsOf({ headers, target }: CacheableRequest, scope: string, added: string): string[] {
    const parts = [scope, added, this.#parts.fingerprint, target]
    headers.forEach((name, value) => {
      // Versions and beta features of the vendor's API.
      if (VENDOR_HEADERS.test(name)) parts.push(`${name.toLowerCase()}: ${value}`)
    })
    return parts
  }

  #lead(request: CachedRequest): SharedCall {
    const { key, scope, labels } = request
    const { cache, registry, shared, semantic, ttlMs, now } = this.#parts
    const { memory, calls } = cache
    const { purges } = memory
    const call = new SharedCall({
      room: memory,
      closed: () => {
        if (calls.get(key) === call) calls.delete(key)
      },
      store: (headers, body) => {
        if (memory.purges !== purges) return
        const storedAt = now()
        const checkAt = shared?.nextCheck ?? Infinity
        const { position } = request
        const attached = position === null ? null : semantic?.attach(position, key, (oldest) => memory.remove(oldest))
        memory.put({ headers, body, storedAt }, { key, scope, labels, expiresAt: storedAt + ttlMs, checkAt, attached })
        registry.stored()
        shared?.put({ key, scope, labels }, { headers, body })
      },
    })
    // The call of an earlier leader, whose answer this request did not want, keeps its followers.
    calls.set(key, call)
    return call
  }
}

const VENDOR_HEADERS = /^(?:anthropic|openai|x-goog|x-amzn-bedrock)-/i

/** The headers of a response that the cache keeps: all others tell of the first call only, such as its rate limits. */
export function keptHeaders(headers: HeaderBlock): KeptHeaders {
  const kept: (readonly [string, string])[] = []
  headers.forEach((name, value) => {
    if (isKeptHeader(name)) kept.push([name.toLowerCase(), value])
  })
  return kept
}

/** Whether a header stays with its answer. */
export function isKeptHeader(name: string): boolean {
  return KEPT_HEADERS.test(name)
}

/** Token counts of Bedrock are in headers. */
const KEPT_HEADERS = /^(?:content-type|x-amzn-bedrock-[a-z-]+)$/i
