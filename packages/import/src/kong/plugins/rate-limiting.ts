import type { Field } from '../../core/yaml-field.ts'
import { markDefaults, textsOf } from '../entities.ts'
import type { Plugin } from '../scopes.ts'
import { effectOf, KEEPS, type Effect, type PluginState, type ReadPlugin, type RouteFacts } from './plugin.ts'

const UNITS = { second: 'Seconds', minute: 'Minutes', hour: 'Hours' } as const
const LONG = ['day', 'month', 'year']

interface Limit {
  readonly requests: number
  readonly unit: string
}

export function readRateLimiting(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const limits: Limit[] = []
  for (const [name, unit] of Object.entries(UNITS)) {
    const field = config.get(name)
    if (field === null) continue
    const limit = limitOf(field, unit)
    if (limit !== null) limits.push(limit)
  }
  for (const name of LONG)
    config
      .get(name)
      ?.notCarried("the gateway's limits are at most hourly; configure a budget policy for longer periods", true)
  const policy = config.get('policy')
  if (policy === null || policy.text === 'local') policy?.carried()
  else
    policy.changed(
      'each replica of the gateway counts separately; configure rateLimit.global to call a rate limit service',
      true,
    )
  for (const [name, field] of config.members)
    if (name.startsWith('redis') || name === 'sync_rate')
      field.carried('the field has no effect, because each replica of the gateway counts separately')
  markDefaults((name) => config.get(name), {
    fault_tolerant: { value: true, otherwise: 'the gateway counts in memory, which does not fail' },
    hide_client_headers: { value: false, otherwise: 'the gateway sends x-ratelimit headers' },
    error_code: { value: 429, otherwise: 'the gateway denies requests with status 429' },
    error_message: { value: 'API rate limit exceeded', otherwise: "the gateway's denial has a fixed body" },
    path: { value: null, otherwise: 'configure a limit with request.path as its key: docs/rate-limits-by-key.md' },
  })
  return limited(plugin, limits, keyOf(config.get('limit_by'), config.get('header_name')))
}

/** Reads the plugin `rate-limiting-advanced`, which has lists of limits and of window sizes in seconds. */
export function readAdvancedRateLimiting(plugin: Plugin): ReadPlugin {
  const { config } = plugin
  const [limit, window] = [config.get('limit'), config.get('window_size')]
  const sizes = textsOf(window)
  const limits = textsOf(limit).map((text, at): Limit | null => {
    const unit = { '1': 'Seconds', '60': 'Minutes', '3600': 'Hours' }[sizes[at] ?? '']
    const requests = Number(text)
    return unit === undefined || !Number.isInteger(requests) || requests < 1 ? null : { requests, unit }
  })
  const known = limits.filter((each) => each !== null)
  for (const each of [limit, window]) {
    if (known.length === limits.length) each?.changed('a time window begins with the first request')
    else each?.notCarried("the gateway's time windows are a second, a minute or an hour", true)
  }
  for (const name of ['strategy', 'sync_rate', 'namespace', 'window_type', 'redis', 'dictionary_name'])
    config.get(name)?.carried('the field has no effect, because each replica of the gateway counts separately')
  return limited(plugin, known, keyOf(config.get('identifier'), config.get('header_name')))
}

function limitOf(field: Field, unit: string): Limit | null {
  const requests = field.number ?? 0
  if (!Number.isInteger(requests) || requests < 1) {
    field.notCarried('the value is not a number of requests', true)
    return null
  }
  field.changed('a time window begins with the first request')
  return { requests, unit }
}

type KeyOf = (route: RouteFacts) => string | null

/** Returns the key by which requests are counted. Clients without a consumer are counted by their address. */
function keyOf(field: Field | null, header: Field | null): KeyOf {
  header?.carried()
  switch (field?.text ?? 'consumer') {
    case 'consumer':
    case 'credential':
      field?.carried()
      return ({ identities }) => {
        const [first] = identities
        return first === undefined ? 'source.address' : `default(${first.key}, source.address)`
      }
    case 'service':
      field?.carried()
      return () => null
    case 'header':
      field?.carried()
      return () => `default(request.headers[${JSON.stringify((header?.text ?? '').toLowerCase())}], source.address)`
    case 'ip':
      field?.carried()
      return () => 'source.address'
    default:
      field?.changed('the gateway counts each client address separately')
      return () => 'source.address'
  }
}

function limited({ entity, route }: Plugin, limits: readonly Limit[], key: KeyOf): ReadPlugin {
  if (limits.length === 0) return KEEPS
  if (route === null) entity.field.get('name')?.changed('the gateway counts each route separately')
  return effectOf(addLimits(limits, key))
}

function addLimits(limits: readonly Limit[], key: KeyOf): Effect {
  return (state, when, route) => {
    const expression = key(route)
    const local = limits.map((limit) => (expression === null ? limit : { ...limit, key: expression }))
    return withLimits(state, when, local)
  }
}

interface LimitPolicy {
  readonly local?: readonly object[]
  readonly conditional?: readonly {
    readonly condition?: string
    readonly policy: { readonly local: readonly object[] }
  }[]
}

export function withLimits(state: PluginState, when: string | null, local: readonly object[]): PluginState {
  const known = (state.policies['rateLimit'] ?? {}) as LimitPolicy
  const rateLimit: LimitPolicy =
    when === null && known.conditional === undefined
      ? { local: [...(known.local ?? []), ...local].slice(0, 16) }
      : {
          conditional: [
            ...(known.conditional ?? []),
            { ...(when !== null && { condition: when }), policy: { local } },
            ...(known.local === undefined ? [] : [{ policy: { local: known.local } }]),
          ],
        }
  return { ...state, policies: { ...state.policies, rateLimit } }
}
