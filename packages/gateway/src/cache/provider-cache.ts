import { HeaderBlock, sourceOf } from '@portico/http'
import type { JsonObject } from '@portico/http/json'
import type { UpstreamResponse } from '@portico/http/client'
import type { Expression } from '../pipeline/context/step.ts'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import { readCacheControl } from './cache-control.ts'
import { digestOf } from './cache-key.ts'
import { defaultScope, textOfResult } from './cache-scope.ts'
import { bypassReason } from './cacheable.ts'
import type { CacheRegistry, NamedCache } from './cache-registry.ts'
import { type KeptHeaders, SharedCall } from './shared-call.ts'

/** A request as it would be sent to the provider. */
export interface CacheableRequest {
  readonly rx: RequestContext
  /** The client's headers after the policies of the route. */
  readonly headers: HeaderBlock
  /** The path and query at the provider. */
  readonly target: string
  readonly bytes: Buffer
  /** The body as the client sent it, for expressions. */
  readonly original: JsonObject
  /** The same body after the edits of the `ai` policy. */
  readonly edited: JsonObject
  /** Whether the client's format lets the provider store responses unless the body says otherwise. */
  readonly isStoredByDefault: boolean
}

/** The result of looking a request up. */
type CacheLookup =
  | { readonly kind: 'bypass'; readonly reason: string }
  | { readonly kind: 'hit'; readonly headers: KeptHeaders; readonly body: Buffer; readonly ageMs: number }
  /** An equal request is under way. */
  | { readonly kind: 'follow'; readonly call: SharedCall }
  /** The request asks the provider, and others may follow. */
  | { readonly kind: 'lead'; readonly call: SharedCall }

interface ProviderCacheParts {
  readonly registry: CacheRegistry
  readonly cache: NamedCache
  readonly ttlMs: number
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

  find(request: CacheableRequest): CacheLookup {
    const { rx } = request
    const { cache, now, ttlMs } = this.#parts
    const control = readCacheControl(rx.headers.joined('cache-control'))
    rx.llmRequest = request.original
    const reason = control.noStore ? 'no-store' : this.#bypassReason(request)
    if (reason !== null) return { kind: 'bypass', reason }
    const { scope: scopeExpression, key: keyExpression } = this.#parts
    const scope = scopeExpression === null ? defaultScope(rx) : textOfResult(scopeExpression.evaluate(rx))
    if (scope === null) return { kind: 'bypass', reason: scopeExpression === null ? 'no-identity' : 'scope' }
    const added = keyExpression === null ? '' : textOfResult(keyExpression.evaluate(rx))
    if (added === null) return { kind: 'bypass', reason: 'key' }
    const key = this.#keyOf(request, scope, added)
    const answer = control.noCache ? null : cache.memory.get(key, now())
    const ageMs = answer === null ? 0 : Math.max(0, now() - answer.storedAt)
    if (answer !== null && ageMs < Math.min(ttlMs, control.maxAgeMs)) return { kind: 'hit', ...answer, ageMs }
    const underWay = control.noCache || control.maxAgeMs === 0 ? undefined : cache.calls.get(key)
    if (underWay !== undefined) return { kind: 'follow', call: underWay }
    return { kind: 'lead', call: this.#lead(key, scope) }
  }

  #bypassReason({ rx, edited, isStoredByDefault }: CacheableRequest): string | null {
    const { bypass, when } = this.#parts
    if (bypass !== null) return bypass
    if (when !== null) return when.isTrue(rx) ? null : 'when'
    return bypassReason(edited, isStoredByDefault)
  }

  #keyOf({ headers, target, bytes }: CacheableRequest, scope: string, added: string): string {
    const parts = [scope, added, this.#parts.fingerprint, target]
    headers.forEach((name, value) => {
      // Versions and beta features of the vendor's API.
      if (VENDOR_HEADERS.test(name)) parts.push(`${name.toLowerCase()}: ${value}`)
    })
    return digestOf([...parts, this.#parts.registry.digests.of(bytes)])
  }

  #lead(key: string, scope: string): SharedCall {
    const { cache, registry, ttlMs, now } = this.#parts
    const { memory, calls } = cache
    const call = new SharedCall({
      room: memory,
      closed: () => {
        if (calls.get(key) === call) calls.delete(key)
      },
      store: (headers, body) => {
        const storedAt = now()
        memory.put({ headers, body, storedAt }, { key, scope, expiresAt: storedAt + ttlMs })
        registry.stored()
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
    if (KEPT_HEADERS.test(name)) kept.push([name.toLowerCase(), value])
  })
  return kept
}

/** Token counts of Bedrock are in headers. */
const KEPT_HEADERS = /^(?:content-type|x-amzn-bedrock-[a-z-]+)$/i

/** A response from the cache. */
export function cachedResponse(headers: KeptHeaders, body: Buffer): UpstreamResponse {
  return { status: 200, headers: HeaderBlock.of(headers), body: sourceOf(body) }
}
