import { list, map, object, Refusal, scalar } from '../schema/kit.ts'
import type { Schema } from '../schema/kit.ts'
import { timeZone } from '../schema/fields/time-zone.ts'
import { boolean, duration, enumeration, integer, number, string } from '../schema/fields/values.ts'
import { BUDGET_PERIODS, periodHasCalendar } from '../schema/fields/budget-period.ts'
import { exactlyOneOf } from '../schema/rules.ts'

/** The name of a key or a team, which stands in paths of the admin API. */
export const entryName = string(
  { min: 1, max: 63 },
  { pattern: /^[A-Za-z0-9][\w.-]*$/, expected: 'a name of up to 63 letters, digits, dots, dashes and underscores' },
)

const MOST = 2_147_483_647

const limit = object(
  {
    requests: integer({ min: 1, max: MOST }).optional().describe('Requests in each window.'),
    tokens: integer({ min: 1, max: MOST })
      .optional()
      .describe('Tokens in each window. They are counted when a response is complete.'),
    calls: integer({ min: 1, max: 1_000_000 }).optional().describe('Requests at the same time.'),
    unit: enumeration(['Seconds', 'Minutes', 'Hours'])
      .optional()
      .describe('The window of `requests` and `tokens`; `Minutes` when unset.'),
  },
  [exactlyOneOf('requests', 'tokens', 'calls')],
).describe('A limit.')

const budget = object(
  {
    usd: number({ min: 0.000001, max: 1_000_000 }).optional().describe('US dollars in each period.'),
    tokens: integer({ min: 1, max: 1_000_000_000_000 }).optional().describe('Tokens in each period.'),
    per: enumeration(BUDGET_PERIODS).describe('Length of a period of the calendar; one of `Lifetime` never ends.'),
    rolling: boolean().optional().describe('Counts the last hour, day, 7 days or 30 days in place of the calendar.'),
    timeZone: timeZone().optional().describe('Time zone of the calendar; UTC when unset.'),
  },
  [exactlyOneOf('usd', 'tokens'), periodHasCalendar],
).describe('A budget.')

const spender = {
  limits: list(limit, { min: 1, max: 8 }).optional().describe('Limits of requests, tokens and calls at once.'),
  budgets: list(budget, { min: 1, max: 8 }).optional().describe('Budgets; a call needs room in all of them.'),
}

const modelPattern = string(
  { min: 1, max: 256 },
  { pattern: /^[^*]*\*?[^*]*$/, expected: 'the name of a model, or a pattern with one `*`' },
)

/** The fields of a key. */
export const keyShape = {
  owner: string({ min: 1, max: 256 }).optional().describe('The owner, `apiKey.owner` in expressions.'),
  team: entryName.optional().describe('The team, `apiKey.team` in expressions.'),
  models: list(modelPattern, { min: 1, max: 256 }).optional().describe('Models that the key may use.'),
  routes: list(string({ min: 1, max: 256 }), { min: 1, max: 256 })
    .optional()
    .describe('Names of the routes that the key may use.'),
  ...spender,
  notBefore: time().optional().describe('The time from which the key is valid.'),
  expires: time().optional().describe('The time at which the key ends.'),
  tags: map(string({ max: 1_024 }), { min: 1, max: 64 })
    .optional()
    .describe('Further fields of `apiKey` in expressions.'),
  disabled: boolean().optional().describe('Whether the key is refused.'),
}

/** The fields of a team. */
export const teamShape = {
  parent: entryName.optional().describe('The team that this team belongs to.'),
  ...spender,
}

export const rotation = object({
  overlap: duration({ max: '8760h' }).prefault('24h').describe('How long the old key stays valid.'),
})

function time(): Schema<string> {
  return scalar<string>(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      const moment = TIME_FORM.test(input) ? Date.parse(input) : Number.NaN
      return Number.isNaN(moment) ? new Refusal('bad_format') : new Date(moment).toISOString()
    },
    {
      type: 'time',
      expected: 'a time such as `2027-01-31T00:00:00Z`',
      json: { type: 'string', format: 'date-time', maxLength: 64 },
    },
  )
}

const TIME_FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
