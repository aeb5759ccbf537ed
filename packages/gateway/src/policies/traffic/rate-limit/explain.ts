import type { LocalLimitConfig, RateLimitConfig } from './schema.ts'
import { isoTime } from '../../../findings/words.ts'
import type { ReadValue, Spending } from '../../../findings/explanation.ts'
import { explainExpression } from '../../../findings/expression-values.ts'
import { spendingOf } from './spending.ts'
import {
  chosenForm,
  type Explainer,
  type Findings,
  numberIn,
  placeIn,
  type Subject,
  textIn,
  value,
  remedy,
} from '../../../findings/subject.ts'

export const rateLimit: Explainer = (subject) => {
  const { reason } = subject
  if (reason.code === 'no_decision') return undecided(subject)
  if (reason.code === 'no_room') return noRoom(subject)
  if (reason.code === 'invalid_header') return invalidHeader(subject)
  return textIn(reason, 'domain') === null ? local(subject) : global(subject)
}

function invalidHeader(subject: Subject): Findings {
  const header = textIn(subject.reason, 'header') ?? ''
  return {
    code: 'limit_service_invalid_header',
    headline: `the rate limit service set the header ${header} to an invalid value`,
    place: placeIn(subject, 'global', 'backendRef'),
    values: [value('header', header)],
    wouldPass: [remedy('backend', `the service sets ${header} to a value without line breaks or control characters`)],
  }
}

function local(subject: Subject): Findings {
  const { reason, record } = subject
  const name = textIn(reason, 'limit')
  const limits = localsOf(subject)
  const index = limits.findIndex((limit) => nameOf(limit) === name)
  const limit = limits[index] ?? null
  const [counted, amount] = limit?.tokens === undefined ? ['requests', limit?.requests] : ['tokens', limit.tokens]
  const place = index === -1 ? placeIn(subject, 'local') : placeIn(subject, 'local', index)
  const number = index === -1 ? null : placeIn(subject, 'local', index, counted)
  const reset = numberIn(reason, 'resetSeconds') ?? 0
  const budget = textIn(reason, 'budget')
  const spending = limit === null ? null : spendingOf(subject, limit)
  const most = limit === null || amount === undefined ? null : enough(limit, amount, spending)
  return {
    ...(limit !== null && { code: counted === 'tokens' ? 'token_limit' : 'request_limit' }),
    headline: `the limit ${name ?? ''} is used up${budget === null ? '' : ` for the budget ${budget}`}${lastTaken(spending)}: requests pass again in ${reset} s`,
    place,
    spending,
    values: [
      value('limit', name),
      value('remaining', numberIn(reason, 'remaining')),
      value('resetSeconds', reset),
      ...(budget === null ? [] : [value('budget', budget)]),
      ...(budget === null && limit?.key === undefined ? [] : keyOf(record, limit)),
      ...(limit?.key === undefined ? [] : [value('limit.key', limit.key)]),
    ],
    wouldPass: [
      remedy('time', `the request is sent after ${isoTime(record.at + reset * 1000)}, ${reset} s later`, {
        of: 'time',
        relation: 'atLeast',
        value: isoTime(record.at + reset * 1000),
      }),
      ...(number === null || most === null
        ? []
        : [
            remedy('config', `\`${counted}\` is more than ${most}`, {
              of: counted,
              found: amount ?? null,
              relation: 'greater',
              value: most,
              place: number,
            }),
          ]),
    ],
  }
}

/** The caller, or the key of the limit; empty when the record does not have it. */
function keyOf(record: Subject['record'], limit: LocalLimitConfig | null): ReadValue[] {
  if (record.key !== null) return [value('key', record.key)]
  if (limit?.key === undefined) return []
  const found = explainExpression(limit.key, 'request', record)
  return found === null || found.state !== 'found' ? [] : [{ name: 'key', value: found.value, state: 'found' }]
}

/** `, since request 01jd… took 912 tokens at 12:02:52`. */
function lastTaken(spending: Spending | null): string {
  const last = spending?.usedUpBy ?? null
  if (spending === null || last === null) return ''
  const what = spending.counts === 'tokens' ? `${last.cost} tokens` : 'the last of it'
  return `, since request ${last.id} took ${what} at ${isoTime(last.at).slice(11, 19)}`
}

/** The number that the limit would have to exceed for this request to have passed too. */
function enough({ burst, tokens }: LocalLimitConfig, amount: number, spending: Spending | null): number {
  // The rest of a burst from earlier windows is not in the records of this window.
  if (tokens === undefined || burst > 0 || spending === null || !spending.isWhole) return amount
  return Math.max(amount, spending.total)
}

function global(subject: Subject): Findings {
  const { reason, record } = subject
  const reset = numberIn(reason, 'resetSeconds')
  return {
    code: 'global_limit',
    headline: `the rate limit service denied the request for the domain ${textIn(reason, 'domain') ?? ''}`,
    place: placeIn(subject, 'global'),
    values: [
      value('domain', textIn(reason, 'domain')),
      value('limit', numberIn(reason, 'limit')),
      value('remaining', numberIn(reason, 'remaining')),
      value('resetSeconds', reset),
    ],
    wouldPass: [
      reset === null
        ? remedy('backend', 'the rate limit service allows the request')
        : remedy('time', `the request is sent after ${isoTime(record.at + reset * 1000)}, ${reset} s later`),
    ],
  }
}

function undecided(subject: Subject): Findings {
  const place = placeIn(subject, 'global')
  return {
    code: 'limit_server_failed',
    headline: `the rate limit service is unavailable: ${textIn(subject.reason, 'cause') ?? ''}`,
    place,
    values: [value('cause', textIn(subject.reason, 'cause')), value('failureMode', 'FailClosed')],
    wouldPass: [
      remedy('backend', 'the rate limit service responds'),
      remedy('config', '`failureMode` is FailOpen', {
        of: 'failureMode',
        found: 'FailClosed',
        relation: 'equals',
        value: 'FailOpen',
        place: placeIn(subject, 'global', 'failureMode') ?? place,
      }),
    ],
  }
}

function noRoom(subject: Subject): Findings {
  const name = textIn(subject.reason, 'limit')
  const index = localsOf(subject).findIndex((limit) => nameOf(limit) === name)
  const place = placeIn(subject, 'local', Math.max(0, index))
  return {
    code: 'limit_without_room',
    headline: `no free budget slot is left for another key of the limit ${name ?? ''}`,
    place,
    values: [value('limit', name)],
    wouldPass: [
      remedy('time', 'another budget of the limit has refilled'),
      remedy('config', '`keys.size` is larger', { place }),
    ],
  }
}

function localsOf(subject: Subject): readonly LocalLimitConfig[] {
  const form: RateLimitConfig | undefined = chosenForm(subject)?.config
  return form?.local ?? []
}

/** The name of the limit, as the policy prints it. */
function nameOf({ requests, tokens, unit, burst }: LocalLimitConfig): string {
  return `${tokens ?? requests}${tokens === undefined ? '' : ' tokens'}/${unit}${burst === 0 ? '' : `+${burst}`}`
}
