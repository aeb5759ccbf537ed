import { withoutAbsent } from '../../core/config-yaml.ts'
import { durationText } from '../../core/duration.ts'
import type { Field } from '../../core/yaml-field.ts'
import { listAt, memberAt, secondsOf } from '../messages/message.ts'

/** The policies that replace a RetryPolicy. */
interface RetryPolicies {
  /** The retry policy; undefined when there are no retries. */
  readonly retry: object | undefined
  /** The time limit of one attempt in seconds; null when there is none. */
  readonly attemptSeconds: number | null
}

const CODES: Readonly<Record<string, readonly number[]>> = {
  '5xx': [500, 501, 502, 503, 504, 505, 506, 507, 508, 509, 510, 511],
  'gateway-error': [502, 503, 504],
  'retriable-4xx': [409],
  'connect-failure': [],
  'refused-stream': [],
  reset: [],
  'reset-before-request': [],
}
const NOTHING: RetryPolicies = { retry: undefined, attemptSeconds: null }

/** Reads a RetryPolicy; `policy` is null when the route has none. */
export function readRetry(policy: Field | null): RetryPolicies {
  if (policy === null) return NOTHING
  for (const [name, note] of Object.entries(NOTES)) memberAt(policy, name)?.notCarried(note)
  const timeout = memberAt(policy, 'per_try_timeout')
  const seconds = secondsOf(timeout)
  timeout?.changed('until the headers of the response')
  const attemptSeconds = seconds === 0 ? null : seconds
  const [causes, count] = [memberAt(policy, 'retry_on'), memberAt(policy, 'num_retries')]
  const words = (causes?.text ?? '').split(',').map((word) => word.trim())
  const extra = listAt(policy, 'retriable_status_codes')
  const isListed = words.includes('retriable-status-codes')
  const codes = new Set(words.flatMap((word) => CODES[word] ?? []))
  for (const each of extra) {
    const code = each.number ?? 0
    if (isListed && code >= 400 && code <= 599) {
      codes.add(code)
      each.carried()
    } else each.notCarried(isListed ? 'only codes from 400 to 599 are retried' : 'retry_on does not name them')
  }
  const known = words.filter((word) => word in CODES || word === 'retriable-status-codes')
  if (known.length === 0) {
    causes?.notCarried('none of these causes is known')
    return { retry: undefined, attemptSeconds }
  }
  const lost = words.filter((word) => word !== '' && !known.includes(word))
  const suffix = lost.length === 0 ? '' : `; without ${lost.join(', ').slice(0, 80)}`
  causes?.changed(`lost connections are retried for idempotent methods alone${suffix}`)
  count?.carried()
  const attempts = Math.min(count?.number ?? 1, 255)
  if (attempts < 1) return { retry: undefined, attemptSeconds }
  const base = memberAt(policy, 'retry_back_off', 'base_interval')
  base?.changed('the pause is the same before each retry')
  const pause = secondsOf(base)
  return {
    retry: withoutAbsent({
      attempts,
      backoff: pause === null || pause < 0.001 ? undefined : durationText(pause),
      codes: codes.size === 0 ? undefined : [...codes].toSorted((one, other) => one - other),
    }),
    attemptSeconds,
  }
}

const NOTES: Readonly<Record<string, string>> = {
  per_try_idle_timeout: 'attempts have one time limit',
  retry_priority: 'there are no priorities',
  retry_host_predicate: 'a retry goes to another address if there is one',
  host_selection_retry_max_attempts: 'a retry goes to another address if there is one',
  retriable_headers: 'headers do not cause a retry',
  retriable_request_headers: 'all requests of the route are retried',
  rate_limited_retry_back_off: 'headers do not decide about the pause',
  retry_options_predicates: 'the options of a retry are those of the first attempt',
}
