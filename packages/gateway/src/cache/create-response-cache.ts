import type { Env } from '../pipeline/context/step.ts'
import { digestOf } from './cache-key.ts'
import { CachedCall, type CachedCallParts, type ModelCallRecord } from './cached-call.ts'
import { CacheRegistry, type NamedCache, REGISTRY_KEY } from './cache-registry.ts'
import { isKeptHeader, ProviderCache } from './provider-cache.ts'
import type { ResponseCacheConfig } from './schema.ts'
import { Embedder } from './semantic/embedder.ts'
import type { SemanticCacheConfig } from './semantic/schema.ts'
import { SemanticSearch } from './semantic/semantic-search.ts'
import { SharedAnswers } from './shared-answers.ts'

interface CachedProvider {
  /** The config that decides what the provider gets; a change of it makes other keys. */
  readonly config: object
  /** Whether a policy of the provider decides about each call, which an answer from the cache would skip. */
  readonly isAuthorizedByCall: boolean
}

/** Creates the part of the cache in one try of a call. */
export type CreateCachedCall = (call: ModelCallRecord, parts: CachedCallParts) => CachedCall

/** Creates the response cache for the calls to one provider of a backend. */
export function createResponseCache(
  { ttl, maxBytes, scope, key, when, replay, shared, semantic }: ResponseCacheConfig,
  provider: CachedProvider,
  env: Env,
): CreateCachedCall {
  const registry = env.kept.held(
    REGISTRY_KEY,
    () => new CacheRegistry(env.deadlines, env.monotonic, env.answerCounts()),
  )
  const expressionOf = (source: string | undefined) => (source === undefined ? null : env.cel(source, 'llmRequest'))
  const named = registry.cache(env.attachment, maxBytes)
  named.isShared = shared !== undefined
  const cache = new ProviderCache({
    registry,
    cache: named,
    shared:
      shared === undefined || env.answers === null
        ? null
        : new SharedAnswers({
            store: env.answers,
            limits: { ttlMs: ttl, maxBytes: shared.maxBytes, isEncrypted: shared.encrypt },
            cache: env.attachment,
            memory: named.memory,
            now: env.monotonic,
            isKept: isKeptHeader,
            taken: () => registry.stored(),
          }),
    ttlMs: ttl,
    semantic: semantic === undefined ? null : semanticSearch(semantic, named, env),
    recordId: env.recordId,
    replay: replay ?? null,
    deadlines: env.deadlines,
    scope: expressionOf(scope),
    key: expressionOf(key),
    when: expressionOf(when),
    fingerprint: digestOf([JSON.stringify(provider.config)]),
    bypass: provider.isAuthorizedByCall ? 'ext-auth' : null,
    now: env.monotonic,
  })
  return (call, parts) => new CachedCall(cache, call, parts)
}

function semanticSearch(config: SemanticCacheConfig, { neighbors }: NamedCache, env: Env): SemanticSearch {
  const { threshold, maxEntries, maxCharacters, timeout, embeddings } = config
  const { backendRef, model, dimensions } = embeddings
  const embedder = new Embedder({ backend: backendRef.name, model, dimensions, timeoutMs: timeout }, env)
  return new SemanticSearch({ embedder, threshold, maxEntries, maxCharacters, index: neighbors })
}
