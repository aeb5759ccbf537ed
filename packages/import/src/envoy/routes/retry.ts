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
  timeout?.changed('the time limit applies until the headers of the response')
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
    } else
      each.notCarried(
        isListed ? 'only codes from 400 to 599 are retried' : 'retry_on does not name retriable-status-codes',
      )
  }
  const known = words.filter((word) => word in CODES || word === 'retriable-status-codes')
  if (known.length === 0) {
    causes?.notCarried('none of these retry causes has a counterpart')
    return { retry: undefined, attemptSeconds }
  }
  const lost = words.filter((word) => word !== '' && !known.includes(word))
  const suffix = lost.length === 0 ? '' : `; the importer ignores ${lost.join(', ').slice(0, 80)}`
  causes?.changed(`only requests with idempotent methods are retried after a lost connection${suffix}`)
  count?.carried()
  const attempts = Math.min(count?.number ?? 1, 255)
  if (attempts < 1) return { retry: undefined, attemptSeconds }
  const base = memberAt(policy, 'retry_back_off', 'base_interval')
  base?.changed('the gateway waits for the same time before each retry')
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
  per_try_idle_timeout: 'the gateway has one time limit for each attempt',
  retry_priority: 'the gateway has no priorities',
  retry_host_predicate: 'the gateway sends a retry to another address if there is one',
  host_selection_retry_max_attempts: 'the gateway sends a retry to another address if there is one',
  retriable_headers: 'the gateway does not retry because of headers',
  retriable_request_headers: 'the gateway retries all requests of the route',
  rate_limited_retry_back_off: 'the gateway ignores headers about the wait before a retry',
  retry_options_predicates: 'the gateway retries with the options of the first attempt',
}
