import { randomBytes } from 'node:crypto'
import { aiBackend, type AiServices } from '../backends/ai/call.ts'
import type { ReadyProvider } from '../backends/ai/provider.ts'
import { ProviderGroups } from '../backends/ai/provider-attempts.ts'
import { mockBackend, type MockServices } from '../backends/mock/call.ts'
import { later } from '../backends/mock/timed-body.ts'
import type { MockConfig } from '../llm/providers/mock/schema.ts'
import { memberResolver } from '../backends/inference-pool/members.ts'
import { poolParts } from '../ir/backend-targets.ts'
import { connectionSettings } from './connection.ts'
import { compileGuards } from './guards.ts'
import type { createModelRouter } from '../backends/ai/models/create-router.ts'
import type { createResponseCache } from '../cache/create-response-cache.ts'
import type { createPricer } from '../prices/create-pricer.ts'
import type { CompilePool } from './pool.ts'
import type { rehearsedBackend } from '../pipeline/call/rehearsed-backend.ts'
import { invalidBackend } from '../pipeline/compiled/invalid-backend.ts'
import { compileEndpoint, type EndpointParts, endpointIdentity, ownAuth } from './endpoint.ts'
import { backendOf, type TunnelParts } from './services.ts'
import type { AiModel } from '../backends/ai/models/schema.ts'
import type { AiProvider, AttachedBackend } from '../ir/resources.ts'
import { clientFormats, createIds, readerShapeKeepalive, upstreamFormats } from '@portico/chat'
import type { CredentialPlace, Provider } from '../llm/providers/provider.ts'
import { createProvider } from '../llm/providers/index.ts'
import { batchPricer, batchServices } from './batches/batch-services.ts'
import { pricedProvider } from './prices/priced-provider.ts'
import type { BackendIdentity, CompiledBackend } from '../pipeline/compiled/compiled.ts'
import type { Env } from '../pipeline/context/step.ts'
import { createRouteTypes } from '../backends/ai/client-request.ts'
import { createProviderEdits } from '../llm/edits/request-edits.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { bugReport } from '../telemetry/log/logger.ts'

export interface AiParts {
  identity: BackendIdentity
  groups: readonly (readonly AiProvider[])[]
  /** Absent when the providers do not depend on the requested model. */
  models?: readonly AiModel[] | undefined
  /** The policies of the whole backend. */
  policies: BackendPolicies
  /** The policies of one provider merged over those of the backend. */
  policiesOf: (provider: AiProvider) => AttachedBackend
  env: Env
  parts: TunnelParts
  /** Compiles the inference pool of a provider; only configs with pools load its code. */
  compilePool: CompilePool
  /** Creates the router of `models`; only configs with models load its code. */
  createModelRouter: typeof createModelRouter
  /** Creates the function for costs; only configs with prices load its code. */
  createPricer: typeof createPricer
  /** Creates the response cache; only configs with a cache load its code. */
  createResponseCache: typeof createResponseCache
  /** Wraps a provider that a rehearsal delays or aborts; the code is loaded only while a rehearsal runs. */
  rehearsedBackend: typeof rehearsedBackend
}

/** Compiles a backend of language models, with all its providers ready for calls. */
export function compileAi({
  identity,
  groups,
  models,
  policies,
  policiesOf,
  env,
  parts,
  compilePool,
  createModelRouter,
  createPricer,
  createResponseCache,
  rehearsedBackend,
}: AiParts): CompiledBackend {
  const { services } = parts
  const { endpoints, upstream } = services
  const keyTaker = groups.flat().find(({ config }) => config.mock === undefined)
  const keyHost = keyTaker === undefined ? null : createProvider(keyTaker.config).destination
  const connect = (provider: AiProvider, to: Pick<Provider, 'destination' | 'region'>, own: AttachedBackend) => {
    const made = connectionOf(provider, to, own, { env, parts, compilePool })
    return own.rehearsal === undefined ? made : rehearsedBackend(made, own.rehearsal, env)
  }
  const ready = groups.map((group) =>
    group.map((provider): ReadyProvider => {
      const vendor = createProvider(provider.config)
      const own = withDefaults(policiesOf(provider), vendor, provider)
      const pricer =
        own.prices === undefined
          ? null
          : createPricer(own.prices, pricedProvider(provider, vendor, services.now), env.tables.keyTable())
      const owner = { key: identity.key, name: identity.name, health: connectionSettings(own, upstream).health }
      return {
        name: provider.name,
        vendor,
        owner,
        endpoint: endpoints.get(owner, provider.name),
        connection: connect(provider, vendor, own),
        rerankConnection:
          vendor.rerankDestination === null
            ? null
            : connect(provider, { region: vendor.region, destination: vendor.rerankDestination }, own),
        credential: credentialPlace(own, isSameHost(vendor.destination, keyHost)),
        edits: createProviderEdits(own.ai ?? {}, vendor, env),
        guards: compileGuards(own.ai?.promptGuard, { ...env, attachment: provider.key }, parts),
        cache:
          own.ai?.cache === undefined ? null : createResponseCache(own.ai.cache, cachedProvider(provider, own), env),
        pricer,
        batchPricer: pricer === null || own.prices === undefined ? null : batchPricer(pricer, own.prices.batchPercent),
      }
    }),
  )
  const lease = ({ owner, endpoint }: ReadyProvider) => endpoints.lease(owner, endpoint)
  const calls: AiServices['calls'] = {
    upstreamFormats,
    providers: new ProviderGroups(ready, { endpoints, random: env.random, monotonic: env.monotonic }),
    now: services.now,
    clock: env.clock,
    newId: createIds(env.random),
    newBoundary: (length) => randomBytes(length).toString('hex').slice(0, length),
    maxBytes: env.maxModelBytes,
    bug: bugReport(env.log),
    keepalive: readerShapeKeepalive(),
  }
  return aiBackend(identity, {
    routeType: createRouteTypes(policies.ai?.routes),
    clientFormats,
    calls,
    models: modelNames(ready.flat(), policies),
    batches: batchServices(identity.key, ready.flat(), { env, lease }),
    router: models === undefined ? null : createModelRouter(models, ready.flat(), { env, endpoints }),
  })
}

/** The provider as the response cache knows it. Credentials and guards do not change what the key has already. */
function cachedProvider({ name, config }: AiProvider, { transformation, urlRewrite, extAuth }: BackendPolicies) {
  return { config: { name, config, transformation, urlRewrite }, isAuthorizedByCall: extAuth !== undefined }
}

/** The models that clients may request, as far as the config names them. */
function modelNames(providers: readonly ReadyProvider[], policies: BackendPolicies): string[] {
  const aliases = Object.keys(policies.ai?.modelAliases ?? {}).filter((name) => !name.includes('*'))
  return [...new Set([...aliases, ...providers.flatMap(({ vendor }) => vendor.model ?? [])])]
}

/** Adds the TLS and credentials that the vendor needs by default; policies win. Pools use plain text on every port. */
function withDefaults(policies: AttachedBackend, vendor: Provider, { pool }: AiProvider): AttachedBackend {
  const needsTls = vendor.destination.tls && pool === undefined
  return { ...(needsTls && { tls: {} }), ...ownAuth(vendor.defaultAuth), ...policies }
}

function connectionOf(
  { key, name, config, pool }: AiProvider,
  { destination, region }: Pick<Provider, 'destination' | 'region'>,
  policies: BackendPolicies,
  { env, parts, compilePool }: Pick<AiParts, 'env' | 'parts' | 'compilePool'>,
): CompiledBackend {
  const { host, port } = destination
  const signing = region === null ? undefined : { region, service: 'bedrock' }
  const part: EndpointParts = { key, name, kind: 'ai', address: { host, port }, policies, signing }
  if (config.mock !== undefined) return mockBackend(endpointIdentity(part, env), mockServices(config.mock, env))
  const referred = pool === undefined ? null : backendOf(parts.backendsByKey, pool)
  if (referred?.target.kind === 'invalid') return invalidBackend(endpointIdentity(part, env), referred.target.reason)
  if (referred?.target.kind === 'inferencePool') {
    const { picker, version } = referred.target
    const members = parts.services.addresses.resolverOf(referred.key)
    const identity = endpointIdentity(part, env)
    return compilePool({ identity, policies, members, picker, version, isWhole: false }, env, parts)
  }
  if (config.inferencePool !== undefined) {
    const { endpoints, picker } = poolParts(config.inferencePool)
    const members = memberResolver(endpoints, parts.services.resolver)
    return compilePool(
      { identity: endpointIdentity(part, env), policies, members, picker, version: null, isWhole: false },
      env,
      parts,
    )
  }
  return compileEndpoint(part, env, parts)
}

function mockServices(config: MockConfig, env: Env): MockServices {
  return {
    config,
    formats: clientFormats,
    random: env.random,
    clock: env.clock,
    newId: createIds(env.random),
    later,
    maxBytes: env.maxModelBytes,
  }
}

/**
 * Whether two destinations are the same host. A client has one key, for the first provider: no other server gets the
 * key unless the config says so.
 */
function isSameHost({ host, port }: Provider['destination'], other: Provider['destination'] | null): boolean {
  return other !== null && host === other.host && port === other.port
}

function credentialPlace({ auth }: BackendPolicies, takesClientKey: boolean): CredentialPlace {
  if (auth === undefined) return { by: takesClientKey ? 'client' : 'nobody' }
  if (auth.aws !== undefined) return { by: 'signature' }
  const { location, passthrough } = auth
  if (passthrough !== undefined && location === undefined) return { by: 'client' }
  return location === undefined ? { by: 'gateway' } : { by: 'config', header: location.header?.name ?? null }
}
