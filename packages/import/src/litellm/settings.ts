import type { Field } from '../core/yaml-field.ts'
import { durationOf } from './deployment.ts'
import type { Strategy } from './groups.ts'
import { secretOf } from './secrets.ts'

/** The sections beside `model_list`; null for those that are absent. */
export interface Sections {
  readonly general: Field | null
  readonly litellm: Field | null
  readonly router: Field | null
}

/** A field of `router_settings` or `litellm_settings`; the former takes precedence, as in LiteLLM. */
function either({ router, litellm }: Sections, name: string): Field | null {
  const [first, second] = [router?.get(name) ?? null, litellm?.get(name) ?? null]
  if (first !== null) second?.notCarried('router_settings has the same field')
  return first ?? second
}

/** How deployments of one name are chosen. */
export function readStrategy(sections: Sections, isPriced: boolean): Strategy {
  const field = sections.router?.get('routing_strategy') ?? null
  switch (field?.text) {
    case undefined:
    case null:
      return 'Weight'
    case 'simple-shuffle':
      field?.carried()
      return 'Weight'
    case 'latency-based-routing':
      field?.changed('the deployment with the shortest time until a response comes first (by: Speed)')
      return 'Speed'
    case 'cost-based-routing':
      if (isPriced) {
        field?.carried()
        return 'Price'
      }
      field?.notCarried('not all deployments have input_cost_per_token and output_cost_per_token; chosen by weight')
      return 'Weight'
    default:
      field?.notCarried('deployments are chosen by weight')
      return 'Weight'
  }
}

/** The timeout of models without one of their own, in seconds. */
export function readTimeout(sections: Sections): number | null {
  const field = sections.router?.get('timeout') ?? null
  const older = sections.litellm?.get('request_timeout') ?? null
  if (field !== null) older?.notCarried('router_settings.timeout takes precedence')
  const found = field ?? older
  if (found?.number == null || found.number < 0.001) return null
  found.changed('limits the time until the response begins (http.requestTimeout), so streams are not cut')
  return Math.min(found.number, 86_400)
}

/** The API key of clients. A key that we cannot accept is replaced by a variable: never an open gateway. */
export function readMasterKey({ general }: Sections): {
  policy: object | null
  env: Record<string, string>
  client: string | null
} {
  const field = general?.get('master_key') ?? null
  const secret = field === null ? null : secretOf(field)
  if (field === null || secret === null) return { policy: null, env: {}, client: null }
  const policy = (key: unknown): object => ({ secretRef: { data: { master: key } } })
  if ('env' in secret) {
    field.carried()
    return { policy: policy({ env: secret.env }), env: { [secret.env]: TEST_KEY }, client: 'master' }
  }
  if (/^[\x21-\x7e]{8,1024}$/.test(secret.literal)) {
    field.carried('a secret in plain text: put it into a variable or write its keyHash')
    return { policy: policy(secret.literal), env: {}, client: 'master' }
  }
  field.changed('keys have 8 to 1024 printable characters: set LITELLM_MASTER_KEY to a longer key', true)
  return { policy: policy({ env: MASTER }), env: { [MASTER]: TEST_KEY }, client: 'master' }
}

const MASTER = 'LITELLM_MASTER_KEY'
const TEST_KEY = 'test-key-0123456789'

/** The retry policy of the route. */
export function readRetry(sections: Sections): object | null {
  const field = either(sections, 'num_retries')
  if (field?.number == null || !Number.isInteger(field.number)) return null
  if (field.number < 1) {
    field.carried('no retries')
    return null
  }
  field.changed('bodies up to 64 KiB are retried, after failed connections and the statuses 408, 409, 429 and 5xx')
  const pause = sections.router?.get('retry_after') ?? null
  const hasPause = pause?.number != null && pause.number > 0 && pause.number <= 60
  if (hasPause) pause?.changed('the pause before each retry')
  return {
    attempts: Math.min(field.number, 255),
    ...(hasPause && { backoff: durationOf(pause?.number ?? 0) }),
    codes: [408, 409, 429, 500, 502, 503, 504],
  }
}

/** The health policy of all providers. */
export function readHealth(sections: Sections): object | null {
  const [fails, time] = [either(sections, 'allowed_fails'), either(sections, 'cooldown_time')]
  if (fails?.number == null && time?.number == null) return null
  const disabled = sections.router?.get('disable_cooldowns') ?? null
  if (disabled?.isTrue === true) {
    disabled.carried()
    fails?.notCarried('disable_cooldowns is set')
    time?.notCarried('disable_cooldowns is set')
    return null
  }
  fails?.changed('counts failures in a row instead of failures in a minute')
  time?.changed('a second cooldown in a row lasts twice as long')
  return {
    unhealthyCondition: 'response.code >= 500 || response.code in [401, 404, 408, 429]',
    eviction: {
      duration: durationOf(Math.min(Math.max(time?.number ?? 5, 0.1), 86_400)),
      consecutiveFailures: Math.min(Math.max(Math.floor(fails?.number ?? 3) + 1, 1), 255),
    },
  }
}

/** The cache policy, and the Redis that shares it. */
export function readCache({ litellm }: Sections): {
  cache: object | null
  redis: object | null
  env: Record<string, string>
} {
  const none = { cache: null, redis: null, env: {} }
  const field = litellm?.get('cache') ?? null
  const params = litellm?.get('cache_params') ?? null
  if (field === null) return none
  if (!field.isTrue) {
    field.carried()
    params?.notCarried('cache is not set')
    return none
  }
  const type = params?.get('type')
  const kind = type?.text ?? 'redis'
  if (!['local', 'redis'].includes(kind)) {
    field.notCarried('the cache is in memory or in Redis here')
    params?.notCarried('the cache is in memory or in Redis here')
    return none
  }
  field.changed('answers are shared by requests of one key; docs/response-cache.md says which requests use the cache')
  const ttl = params?.get('ttl')
  const seconds = ttl?.number ?? 3_600
  ttl?.carried()
  const base = { ttl: durationOf(Math.min(Math.max(seconds, 1), 86_400 * 30)) }
  if (seconds > 86_400 * 30) ttl?.changed('at most 30 days')
  if (kind === 'local') {
    type?.carried()
    return { ...none, cache: base }
  }
  return readRedis(params, type ?? field, base)
}

/** A DNS name, or an IPv4 address. */
const HOST = /^(?=.*([a-z]|\d\.\d))[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i

function readRedis(params: Field | null, type: Field, base: object) {
  const [host, port, password] = [
    params?.get('host') ?? null,
    params?.get('port') ?? null,
    params?.get('password') ?? null,
  ]
  const where = host === null ? null : secretOf(host)
  if (where === null || !('literal' in where) || !HOST.test(where.literal) || (port !== null && port.number === null)) {
    const note = 'each worker caches for itself: set config.stores.redis and cache.shared to share answers'
    type.changed(note)
    for (const field of [host, port, password]) field?.notCarried('the address of Redis is not in the config')
    return { cache: base, redis: null, env: {} }
  }
  for (const field of [type, host, port]) field?.carried()
  const secret = password === null ? null : secretOf(password)
  if (password !== null && secret !== null) password.carried()
  return {
    cache: { ...base, shared: {} },
    redis: {
      url: `redis://${where.literal}:${port?.number ?? 6_379}`,
      ...(secret !== null && { password: 'env' in secret ? { env: secret.env } : secret.literal }),
    },
    env: secret !== null && 'env' in secret ? { [secret.env]: 'test-key' } : {},
  }
}

/** The budget of all calls together. */
export function readBudget({ litellm, general }: Sections): object | null {
  for (const section of [litellm, general]) {
    const [amount, period] = [section?.get('max_budget') ?? null, section?.get('budget_duration') ?? null]
    if (amount === null) continue
    const per = period === null ? 'Lifetime' : PERIODS.get(period.text ?? '')
    if (amount.number === null || amount.number <= 0 || per === undefined) {
      amount.notCarried('budgets are for an hour, a day, a week, a month or a lifetime', true)
      continue
    }
    amount.changed('for all clients together, by public prices; calls without a known price are not counted')
    period?.changed(`a ${per.toLowerCase()} of the calendar`)
    return { limits: [{ name: 'litellm', usd: amount.number, per }], unpriced: 'Allow' }
  }
  return null
}

const PERIODS: ReadonlyMap<string, string> = new Map([
  ['1h', 'Hour'],
  ['60m', 'Hour'],
  ['1d', 'Day'],
  ['24h', 'Day'],
  ['7d', 'Week'],
  ['30d', 'Month'],
  ['31d', 'Month'],
  ['1mo', 'Month'],
])
