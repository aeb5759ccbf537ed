import { aiBackend, type AiServices } from '../backends/ai/call.ts'
import type { ReadyProvider } from '../backends/ai/provider.ts'
import { selectProvider } from '../backends/ai/select-provider.ts'
import { mockBackend, type MockServices } from '../backends/mock/call.ts'
import type { MockConfig } from '../llm/providers/mock/schema.ts'
import { connectionSettings } from './connection.ts'
import { compileGuards } from './guards.ts'
import { compileEndpoint, type EndpointParts, endpointIdentity } from './endpoint.ts'
import type { TunnelParts } from './services.ts'
import type { AiProvider } from '../ir/resources.ts'
import { clientFormats, upstreamFormats } from '../llm/formats/index.ts'
import type { ChatRequest } from '../llm/middle.ts'
import type { CredentialPlace, Provider } from '../llm/providers/provider.ts'
import { createProvider } from '../llm/providers/index.ts'
import type { BackendIdentity, CompiledBackend } from '../pipeline/compiled.ts'
import type { Env } from '../pipeline/step.ts'
import { createRouteTypes } from '../llm/edits/route-types.ts'
import { providerEdits } from '../policies/backend/ai/edits.ts'
import type { BackendPolicies } from '../policies/index.ts'

export interface AiParts {
  identity: BackendIdentity
  groups: readonly (readonly AiProvider[])[]
  /** Of the whole backend. */
  policies: BackendPolicies
  /** With those of one provider on top. */
  policiesOf: (provider: AiProvider) => BackendPolicies
  env: Env
  parts: TunnelParts
}

/** A backend of language models, with all its providers ready to be called. */
export function compileAi({ identity, groups, policies, policiesOf, env, parts }: AiParts): CompiledBackend {
  const { services } = parts
  const { endpoints, upstream } = services
  const ready = groups.map((group) =>
    group.map((provider): ReadyProvider => {
      const vendor = createProvider(provider.config)
      const own = withDefaults(policiesOf(provider), vendor)
      const owner = { key: identity.key, name: identity.name, health: connectionSettings(own, upstream).health }
      return {
        name: provider.name,
        vendor,
        owner,
        endpoint: endpoints.get(owner, provider.name),
        connection: connectionOf(provider, vendor, own, { env, parts }),
        credential: credentialPlace(own),
        edits: providerEdits(own.ai, vendor, env),
        guards: compileGuards(own.ai?.promptGuard, { ...env, attachment: provider.key }, parts),
      }
    }),
  )
  const calls: AiServices['calls'] = {
    upstreamFormats,
    next(tried, vendor) {
      const now = env.monotonic()
      const standingOf = ({ endpoint, owner }: ReadyProvider) =>
        endpoint.standing(now, owner.health?.eviction ?? null, false)
      const groups =
        vendor === undefined ? ready : ready.map((group) => group.filter((each) => each.vendor.name === vendor))
      const provider = selectProvider(groups, tried, standingOf, env.random)
      return provider === null ? null : { provider, visit: endpoints.visit(provider.owner, provider.endpoint) }
    },
    providerCount: ready.flat().length,
    now: services.now,
    clock: env.clock,
    newId: (prefix) => prefix + randomHex(env.random),
    maxBytes: env.maxBufferBytes,
    bug: (error) => env.log.error('bug', { error: error instanceof Error ? error.stack : String(error) }),
  }
  return aiBackend(identity, {
    routeType: createRouteTypes(policies.ai?.routes),
    clientFormats,
    calls,
    models: modelNames(ready.flat(), policies),
    countTokens,
  })
}

/** The tables of a tokenizer are large, and few gateways count by themselves: they are loaded when somebody asks. */
async function countTokens(request: ChatRequest): Promise<number> {
  const tokenizer = await import('../llm/tokenizer/count-tokens.ts')
  return tokenizer.countTokens(request)
}

/** What clients may ask for, as far as the config says it. */
function modelNames(providers: readonly ReadyProvider[], policies: BackendPolicies): string[] {
  const aliases = Object.keys(policies.ai?.modelAliases ?? {}).filter((name) => !name.includes('*'))
  return [...new Set([...aliases, ...providers.flatMap(({ vendor }) => vendor.model ?? [])])]
}

/** TLS and credentials that the vendor itself asks for, where no policy says otherwise. */
function withDefaults(policies: BackendPolicies, vendor: Provider): BackendPolicies {
  const auth = vendor.defaultAuth === 'none' ? {} : { auth: { [vendor.defaultAuth]: {} } }
  return { ...(vendor.destination.tls && { tls: {} }), ...auth, ...policies }
}

function connectionOf(
  { key, name, config }: AiProvider,
  { destination, region }: Provider,
  policies: BackendPolicies,
  { env, parts }: Pick<AiParts, 'env' | 'parts'>,
): CompiledBackend {
  const { host, port } = destination
  const signing = region === null ? undefined : { region, service: 'bedrock' }
  const part: EndpointParts = { key, name, kind: 'ai', address: { host, port }, policies, signing }
  if (config.mock !== undefined) return mockBackend(endpointIdentity(part, env), mockServices(config.mock, env))
  return compileEndpoint(part, env, parts)
}

function mockServices(config: MockConfig, env: Env): MockServices {
  return {
    config,
    formats: clientFormats,
    random: env.random,
    clock: env.clock,
    newId: (prefix) => prefix + randomHex(env.random),
    later(ms, run) {
      const timer = setTimeout(run, ms)
      return () => clearTimeout(timer)
    },
    maxBytes: env.maxBufferBytes,
  }
}

function credentialPlace({ auth }: BackendPolicies): CredentialPlace {
  if (auth === undefined) return { by: 'client' }
  if (auth.aws !== undefined) return { by: 'signature' }
  const { location, passthrough } = auth
  if (passthrough !== undefined && location === undefined) return { by: 'client' }
  return location === undefined ? { by: 'gateway' } : { by: 'config', header: location.header?.name ?? null }
}

/** 96 bits: enough that nobody meets the same one twice. */
function randomHex(random: () => number): string {
  let text = ''
  for (let i = 0; i < 3; i++)
    text += Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return text
}
