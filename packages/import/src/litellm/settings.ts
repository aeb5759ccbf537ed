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
  if (first !== null) second?.notCarried('router_settings has the same field, which takes precedence')
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
      field?.changed('the gateway prefers the deployment with the shortest response time (by: Speed)')
      return 'Speed'
    case 'cost-based-routing':
      if (isPriced) {
        field?.carried()
        return 'Price'
      }
      field?.notCarried(
        'the gateway chooses deployments by weight, because some lack input_cost_per_token or output_cost_per_token',
      )
      return 'Weight'
    default:
      field?.notCarried('the gateway chooses deployments by weight')
      return 'Weight'
  }
}

/** The timeout of models without one of their own, in seconds. */
export function readTimeout(sections: Sections): number | null {
  const field = sections.router?.get('timeout') ?? null
  const older = sections.litellm?.get('request_timeout') ?? null
  if (field !== null) older?.notCarried('the field has no effect, because router_settings.timeout takes precedence')
  const found = field ?? older
  if (found?.number == null || found.number < 0.001) return null
  found.changed('the time limit applies until the response begins (http.requestTimeout), so streams are not cut')
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
    field.carried('the secret is in plain text; move it to an environment variable, or use its keyHash')
    return { policy: policy(secret.literal), env: {}, client: 'master' }
  }
  field.changed(
    'the gateway accepts keys of 8 to 1024 printable characters; set LITELLM_MASTER_KEY to a longer key',
    true,
  )
  return { policy: policy({ env: MASTER }), env: { [MASTER]: TEST_KEY }, client: 'master' }
}

const MASTER = 'LITELLM_MASTER_KEY'
const TEST_KEY = 'test-key-0123456789'

/** The retry policy of the route. */
export function readRetry(sections: Sections): object | null {
  const field = either(sections, 'num_retries')
  if (field?.number == null || !Number.isInteger(field.number)) return null
  if (field.number < 1) {
    field.carried('the gateway makes no retries')
    return null
  }
  field.changed(
    'the gateway retries requests with bodies up to 64 KiB, after failed connections and the statuses 408, 409, 429 and 5xx',
  )
  const pause = sections.router?.get('retry_after') ?? null
  const hasPause = pause?.number != null && pause.number > 0 && pause.number <= 60
  if (hasPause) pause?.changed('the value becomes the wait before each retry')
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
    fails?.notCarried('the field has no effect, because disable_cooldowns is set')
    time?.notCarried('the field has no effect, because disable_cooldowns is set')
    return null
  }
  fails?.changed('the gateway counts failures in a row instead of failures in a minute')
  time?.changed('in the gateway, a second cooldown in a row lasts twice as long')
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
    params?.notCarried('the field has no effect, because cache is not set')
    return none
  }
  const type = params?.get('type')
  const kind = type?.text ?? 'redis'
  if (!['local', 'redis'].includes(kind)) {
    field.notCarried('the gateway caches only in memory or in Redis')
    params?.notCarried('the gateway caches only in memory or in Redis')
    return none
  }
  field.changed('requests with one key share cached responses: docs/response-cache.md')
  const ttl = params?.get('ttl')
  const seconds = ttl?.number ?? 3_600
  ttl?.carried()
  const base = { ttl: durationOf(Math.min(Math.max(seconds, 1), 86_400 * 30)) }
  if (seconds > 86_400 * 30) ttl?.changed('the gateway caches responses for at most 30 days')
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
    const note =
      'each worker of the gateway has its own cache; configure config.stores.redis and cache.shared to share responses'
    type.changed(note)
    for (const field of [host, port, password]) field?.notCarried('the config does not contain the address of Redis')
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
      amount.notCarried('the gateway has budgets for an hour, a day, a week, a month or a lifetime', true)
      continue
    }
    amount.changed(
      'all clients share the budget; the gateway uses public prices, and does not count calls without a known price',
    )
    period?.changed(`the budget begins anew with each calendar ${per.toLowerCase()}`)
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
