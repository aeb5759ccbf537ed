import type { Field } from '../../core/yaml-field.ts'
import { choice, lost, type Members, membersOf, scalar, type Scope } from '../values/convert.ts'
import { destinationOf, splitHostPort } from '../values/targets.ts'

/** A provider of language models, in the form of the Portico config. */
export interface Provider {
  readonly provider: Readonly<Record<string, unknown>>
  /**
   * The cloud whose credential agentgateway takes from its environment; null for providers that need a configured
   * credential.
   */
  readonly cloud: 'aws' | 'gcp' | 'azure' | null
  /**
   * The address of the provider as `host:port`; null when the address is not known, or when the provider needs a token
   * that tests do not have.
   */
  readonly address: string | null
  /** The model in requests to the provider; undefined when clients choose the model. */
  readonly model: string | undefined
}

interface Vendor {
  readonly key: string
  readonly members: Members
  readonly cloud?: Provider['cloud']
  readonly address?: string
}

const model: Members = { model: scalar }

const VENDORS: Readonly<Record<string, Vendor>> = {
  openAI: { key: 'openai', members: model, address: 'api.openai.com:443' },
  anthropic: { key: 'anthropic', members: model, address: 'api.anthropic.com:443' },
  gemini: { key: 'gemini', members: model, address: 'generativelanguage.googleapis.com:443' },
  vertex: { key: 'vertexai', members: { ...model, projectId: scalar, region: scalar }, cloud: 'gcp' },
  bedrock: {
    key: 'bedrock',
    members: { ...model, region: scalar, guardrailIdentifier: scalar, guardrailVersion: scalar },
    cloud: 'aws',
  },
  azureOpenAI: {
    key: 'azureopenai',
    members: { host: ['endpoint', scalar], model: ['deploymentName', scalar], apiVersion: scalar },
    cloud: 'azure',
  },
  azure: {
    key: 'azure',
    members: {
      ...model,
      resourceName: scalar,
      resourceType: choice({ openAI: 'OpenAI', foundry: 'Foundry', OpenAI: 'OpenAI', Foundry: 'Foundry' }),
      apiVersion: scalar,
      projectName: scalar,
    },
    cloud: 'azure',
  },
}

/** Vendors with an OpenAI-compatible API: provider names of Portico by provider names of agentgateway. */
const PRESETS: Readonly<Record<string, string>> = {
  baseten: 'baseten',
  cerebras: 'cerebras',
  cohere: 'cohere',
  deepinfra: 'deepinfra',
  deepseek: 'deepseek',
  fireworks: 'fireworks',
  groq: 'groq',
  huggingface: 'huggingface',
  mistral: 'mistral',
  ollama: 'ollama',
  openrouter: 'openrouter',
  togetherai: 'together',
  xai: 'xai',
}

const ALIASES: Readonly<Record<string, string>> = {
  openai: 'openAI',
  vertexai: 'vertex',
  vertexAI: 'vertex',
  azureopenai: 'azureOpenAI',
}

/**
 * Reads `provider: { openAI: { model } }` and the fields beside `provider`; returns undefined when the provider cannot
 * be imported.
 */
export function readProvider(entry: Field, scope: Scope): Provider | undefined {
  const field = entry.get('provider')
  if (field === null) return lost(entry, 'the backend has no provider')
  const [[name, settings] = [field.text ?? '', null], ...others] = field.members
  const vendor = vendorOf(name)
  if (vendor === undefined || others.length > 0) return lost(field, 'the importer does not know this provider')
  if (settings?.isMapping !== true) field.carried()
  else if (settings.members.length === 0) settings.carried()
  const own = settings?.isMapping === true ? membersOf(settings, vendor.members, scope) : {}
  return providerOf(vendor, own, readOverrides(entry, scope))
}

export function vendorOf(name: string): Vendor | undefined {
  const own = Object.hasOwn(ALIASES, name) ? ALIASES[name] : name
  if (own !== undefined && Object.hasOwn(VENDORS, own)) return VENDORS[own]
  const preset = Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined
  return preset === undefined ? undefined : { key: preset, members: model }
}

/** Host, port and path of a provider that replace the address of its vendor. */
interface Overrides {
  readonly members: Readonly<Record<string, unknown>>
  readonly address: string | null
}

export function providerOf(
  vendor: Vendor,
  settings: Readonly<Record<string, unknown>>,
  { members, address }: Overrides,
): Provider {
  const { guardrailIdentifier, guardrailVersion, ...own } = settings
  const guardrail =
    guardrailIdentifier === undefined
      ? {}
      : { guardrail: { identifier: guardrailIdentifier, version: guardrailVersion } }
  const asked = own['model'] ?? own['deploymentName']
  const isFree = vendor.cloud === undefined
  return {
    provider: { [vendor.key]: { ...own, ...guardrail }, ...members },
    cloud: vendor.cloud ?? null,
    address: isFree ? (address ?? vendor.address ?? null) : null,
    model: typeof asked === 'string' ? asked : undefined,
  }
}

function readOverrides(entry: Field, scope: Scope): Overrides {
  const { path, pathPrefix } = membersOf(entry, { pathOverride: ['path', scalar], pathPrefix: scalar }, scope)
  const tokenize = entry.get('tokenize')
  if (tokenize?.isTrue === true) tokenize.changed('Portico counts tokens when the response is complete')
  else tokenize?.carried()
  const paths = { ...(path !== undefined && { path }), ...(pathPrefix !== undefined && { pathPrefix }) }
  const host = entry.get('hostOverride')
  if (host === null) return { members: paths, address: null }
  const found = destinationOf(host, scope)
  if (typeof found === 'string' || typeof found.host !== 'string' || found.address === null || found.isTls) {
    lost(host, typeof found === 'string' ? found : 'expected host:port')
    return { members: paths, address: null }
  }
  host.carried()
  return { members: { ...splitHostPort(found.host), ...paths }, address: found.address }
}
