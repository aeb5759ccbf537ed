import type { AiModel, ModelConfig } from '../backends/ai/models/schema.ts'
import type { AwsBackendConfig } from '../backends/agent-core/schema.ts'
import type { DynamicForwardProxyConfig } from '../backends/dynamic-forward-proxy/schema.ts'
import type { InferencePoolConfig, PickerTarget, PoolMember } from '../schema/fields/inference-pool.ts'
import type { StaticBackendConfig } from '../backends/static/schema.ts'
import type { LlmProviderConfig } from '../llm/providers/schema.ts'
import { type BackendUrl, urlKey } from '../formats/address.ts'
import type { BackendPolicies } from '../policies/index.ts'
import type { AiProvider, Backend, BackendTarget } from './resources.ts'

/** Converts backends from the config file or a resource to their form in the IR. */

/** The key that policies of one part of a backend, such as a provider, attach to. */
export function sectionKey(backend: string, name: string): string {
  return `${backend}/section/${name}`
}

export function staticTarget({ host, port, unixPath }: StaticBackendConfig): BackendTarget {
  return unixPath === undefined
    ? { kind: 'static', host: host, port: port ?? HTTPS_PORT }
    : { kind: 'unix', path: unixPath }
}

/** The default port, for TLS; other backends must set a port. */
export const HTTPS_PORT = 443

interface AiTargetConfig {
  provider?: LlmProviderConfig | undefined
  groups?: { providers: NamedProvider[] }[] | undefined
  models?: ModelConfig[] | undefined
}

type NamedProvider = LlmProviderConfig & { name: string; policies?: unknown }

export function aiTarget(
  { provider, groups, models }: AiTargetConfig,
  key: string,
): Extract<BackendTarget, { kind: 'ai' }> {
  const named = (providers: readonly NamedProvider[]): AiProvider[] =>
    providers.map(({ name, policies: _inline, ...config }: NamedProvider & { policies?: unknown }) => ({
      key: sectionKey(key, name),
      name,
      config,
    }))
  if (models !== undefined) return { kind: 'ai', groups: [modelProviders(models, key)], models: models.map(toModel) }
  const only = provider === undefined ? [] : [{ name: vendorOf(provider), ...provider }]
  return { kind: 'ai', groups: (groups ?? [{ providers: only }]).map(({ providers }) => named(providers)) }
}

function modelProviders(models: readonly ModelConfig[], key: string): AiProvider[] {
  return models.flatMap(({ name, provider }) =>
    provider === undefined ? [] : [{ key: sectionKey(key, name), name, config: provider }],
  )
}

function toModel({ provider: _provider, policies: _policies, ...model }: ModelConfig): AiModel {
  return model
}

/** The vendor's name, for a provider without a name. */
function vendorOf(provider: LlmProviderConfig): string {
  return Object.keys(provider).find((name) => typeof provider[name as keyof typeof provider] === 'object') ?? ''
}

export function awsTarget({ agentCore }: AwsBackendConfig): BackendTarget {
  const { agentRuntimeArn, qualifier = null } = agentCore
  return { kind: 'agentCore', ...agentRuntimeArn, qualifier }
}

export function poolTarget(config: InferencePoolConfig): BackendTarget {
  return { kind: 'inferencePool', ...poolParts(config), version: null }
}

/** The members and the picker of an inference pool. */
export function poolParts({ endpoints, picker }: InferencePoolConfig): {
  endpoints: PoolMember[]
  picker: PickerTarget
} {
  const { backendRef, failureMode, timeout: timeoutMs } = picker
  const backend = backendRef.name ?? backendRef.host
  return { endpoints, picker: { backend, failureMode, timeoutMs } }
}

export function dynamicTarget(config: DynamicForwardProxyConfig): BackendTarget {
  return { kind: 'dynamicForwardProxy', ...config }
}

/** Backends, each with its inline policies. */
export type DescribedBackends = readonly { backend: Backend; policies: BackendPolicies | undefined }[]

/** The origin of a URL as a backend. */
export function urlBackend(url: BackendUrl): DescribedBackends[number] {
  const target = { kind: 'static' as const, host: url.host, port: url.port }
  return {
    backend: { key: urlKey(url), name: targetName(target), target },
    policies: url.secure ? { tls: {} } : undefined,
  }
}

/** The name in logs and metrics of a backend without a name. */
export function targetName(target: Backend['target']): string {
  if (target.kind === 'unix') return `unix:${target.path}`
  if (target.kind === 'dynamicForwardProxy') return 'dynamicForwardProxy'
  if (target.kind === 'inferencePool') return 'inferencePool'
  if (target.kind === 'ai' || target.kind === 'mcp') return target.kind
  if (target.kind === 'agentCore') return target.host
  if (target.kind === 'invalid') return 'invalid'
  return target.host.includes(':') ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`
}
