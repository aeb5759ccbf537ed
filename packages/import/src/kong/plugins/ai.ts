import type { Field } from '../../core/yaml-field.ts'
import { isRegex } from '../../http/paths.ts'
import { markDefaults, textsOf } from '../entities.ts'
import type { Plugin } from '../scopes.ts'
import { type Model, readModel } from './ai-model.ts'
import { closes, effectOf, KEEPS, type PluginState, type ReadPlugin, type Surroundings } from './plugin.ts'
import { withLimits } from './rate-limiting.ts'

/** Adds members to the `ai` policy of a route. */
function withAi(state: PluginState, part: Readonly<Record<string, unknown>>): PluginState {
  return { ...state, ai: { ...state.ai, ...part } }
}

function withModel(
  state: PluginState,
  backend: NonNullable<PluginState['model']>,
  defaults: readonly object[],
): PluginState {
  const found = { ...state, model: backend }
  return defaults.length === 0 ? found : withAi(found, { defaults })
}

function markOptions(get: (name: string) => Field | null): void {
  const type = get('route_type')
  if (type === null || type.text === 'llm/v1/chat') type?.carried()
  else type.changed('the end of the request path decides the kind of the request, such as /embeddings')
  get('llm_format')?.carried('the gateway accepts requests of all formats')
  get('genai_category')?.carried('the end of the request path decides the kind of the request')
  get('max_request_body_size')?.notCarried('configure frontend.http.maxBufferSize: docs/policies/frontend-http.md')
  get('model_name_header')?.notCarried('the gateway does not name the model in a response header')
  get('logging')?.notCarried('configure logs and metrics in the gateway: docs/logs-and-metrics.md')
  markDefaults(get, {
    response_streaming: { value: 'allow', otherwise: 'the gateway lets clients decide whether a response streams' },
  })
}

export function readAiProxy(plugin: Plugin, { variables }: Surroundings): ReadPlugin {
  const { config } = plugin
  if (plugin.consumers !== null) return closes(plugin, 'a model for certain consumers has no counterpart')
  const model = readModel((name) => config.get(name), variables)
  if (typeof model === 'string') return closes(plugin, model)
  markOptions((name) => config.get(name))
  const { provider, policies, defaults } = model
  return effectOf((state) => withModel(state, { ai: { provider }, policies }, defaults))
}

/** Reads the plugin `ai-proxy-advanced`, whose targets are tried by priority or share all requests. */
export function readAiProxyAdvanced(plugin: Plugin, { variables }: Surroundings): ReadPlugin {
  const { config } = plugin
  const targets = config.get('targets')?.items ?? []
  if (plugin.consumers !== null || targets.length === 0 || targets.length > 8)
    return closes(plugin, 'the targets have no counterpart')
  const models: { model: Model; weight: number }[] = []
  for (const target of targets) {
    const model = readModel((name) => target.get(name), variables)
    if (typeof model === 'string') return closes(plugin, model)
    markOptions((name) => target.get(name))
    const weight = target.get('weight')
    weight?.carried()
    models.push({ model, weight: weight?.number ?? 100 })
  }
  markOptions((name) => config.get(name))
  const algorithm = config.get('balancer')?.get('algorithm') ?? null
  const isByPriority = algorithm?.text === 'priority'
  config
    .get('balancer')
    ?.changed(
      isByPriority
        ? 'the gateway tries the targets by priority'
        : 'the gateway sends more requests to healthier and faster targets',
    )
  const named = models
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ model: { provider, policies } }, at) => ({ name: `target-${at + 1}`, ...provider, policies }))
  const groups = isByPriority ? named.map((each) => ({ providers: [each] })) : [{ providers: named }]
  const [only, ...others] = models
  if (only !== undefined && others.length === 0) {
    const { provider, policies, defaults } = only.model
    return effectOf((state) => withModel(state, { ai: { provider }, policies }, defaults))
  }
  if (models.some(({ model }) => model.defaults.length > 0))
    config.get('targets')?.changed('the importer ignores model options of targets, such as temperature')
  return effectOf((state) => withModel(state, { ai: { groups } }, []))
}

export function readPromptDecorator(plugin: Plugin): ReadPlugin {
  const prompts = plugin.config.get('prompts')
  const read = (name: string): object[] =>
    (prompts?.get(name)?.items ?? []).map((each) => ({
      role: each.get('role')?.text ?? 'system',
      content: each.get('content')?.text ?? '',
    }))
  const [prepend, append] = [read('prepend'), read('append')]
  if (plugin.consumers !== null) return closes(plugin, 'messages for certain consumers have no counterpart')
  prompts?.carried()
  plugin.config
    .get('max_request_body_size')
    ?.notCarried('configure frontend.http.maxBufferSize: docs/policies/frontend-http.md')
  if (prepend.length + append.length === 0) return KEEPS
  return effectOf((state) =>
    withAi(state, {
      prompt: { ...(prepend.length > 0 && { prepend }), ...(append.length > 0 && { append }) },
    }),
  )
}

/**
 * Reads the plugin `ai-prompt-guard`. Patterns that deny prompts are carried; patterns that prompts must fit have no
 * counterpart.
 */
export function readPromptGuard(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const [allow, deny] = [config.get('allow_patterns'), config.get('deny_patterns')]
  const patterns = textsOf(deny)
  if (textsOf(allow).length > 0) return closes(plugin, 'patterns that prompts must fit have no counterpart')
  if (plugin.consumers !== null || patterns.length === 0 || patterns.length > 64 || !patterns.every(isRegex))
    return closes(plugin, 'a pattern of the plugin has no counterpart')
  allow?.carried()
  deny?.changed('the gateway searches the messages of all roles')
  for (const name of ['allow_all_conversation_history', 'match_all_roles'])
    config.get(name)?.carried('the gateway searches the messages of all roles')
  const guard = { regex: { matches: patterns, action: 'Reject' } }
  return effectOf((state) => withAi(state, { promptGuard: { request: [guard] } }))
}

const UNITS: Readonly<Record<string, string>> = { '1': 'Seconds', '60': 'Minutes', '3600': 'Hours' }

/** Reads the plugin `ai-rate-limiting-advanced`. The gateway counts the tokens of all providers together. */
export function readTokenLimit(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const providers = config.get('llm_providers')
  const [only, ...others] = providers?.items ?? []
  const limits = textsOf(only?.get('limit') ?? null).map(Number)
  const units = textsOf(only?.get('window_size') ?? null).map((size) => UNITS[size])
  const strategy = config.get('tokens_count_strategy')
  const isKnown =
    others.length === 0 &&
    limits.length > 0 &&
    limits.length === units.length &&
    !units.includes(undefined) &&
    limits.every((each) => Number.isInteger(each) && each > 0) &&
    ['total_tokens', undefined].includes(strategy?.text ?? undefined)
  if (!isKnown) {
    plugin.entity.field.notCarried(
      'configure rateLimit.local[].tokens to limit tokens: docs/policies/traffic-rate-limit.md',
      true,
    )
    return KEEPS
  }
  providers?.changed('the gateway counts the tokens of all providers together')
  strategy?.carried()
  for (const name of ['strategy', 'sync_rate', 'window_type', 'identifier', 'redis'])
    config.get(name)?.changed('each replica of the gateway counts separately, for each consumer or client address')
  return effectOf((state, when, { identities }) => {
    const [first] = identities
    const key = first === undefined ? 'source.address' : `default(${first.key}, source.address)`
    return withLimits(
      state,
      when,
      limits.map((tokens, at) => ({ tokens, unit: units[at], key })),
    )
  })
}
