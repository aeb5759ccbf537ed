import { bool, number as anyNumber, oneOf, string as text } from '@portico/cel/declare'
import { definePolicy } from '../../../schema/define-policy.ts'
import { expression } from '../../../schema/fields/expression.ts'
import { timeZone } from '../../../schema/fields/time-zone.ts'
import { boolean, enumeration, integer, number, string } from '../../../schema/fields/values.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { BUDGET_PERIODS, periodHasCalendar } from '../../../schema/fields/budget-period.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'

const limit = object(
  {
    name: string({ min: 1, max: 64 }).describe('Name of the budget in responses, logs and traces.'),
    usd: number({ min: 0.000001, max: 1_000_000 })
      .optional()
      .describe('US dollars in each period; needs the `prices` policy of the backend.'),
    tokens: integer({ min: 1, max: 1_000_000_000_000 })
      .optional()
      .describe('Tokens in each period, of prompts and responses.'),
    per: enumeration(BUDGET_PERIODS).describe(
      'Length of a period of the calendar. Weeks begin on Monday. A period of `Lifetime` never ends.',
    ),
    rolling: boolean()
      .optional()
      .describe(
        'Counts the last hour, day, 7 days or 30 days in place of a period of the calendar. What was spent counts in twenty-fourths of that time, each until all of it is over.',
      ),
    timeZone: timeZone().optional().describe('Time zone of the calendar, such as `Europe/Berlin`; UTC when unset.'),
    key: expression('request', oneOf(bool, anyNumber, text))
      .optional()
      .describe(
        'Each value of this expression has its own budget, for example `apiKey.name` or `jwt.sub`. Requests for which the expression fails share one budget.',
      ),
    maxKeys: integer({ min: 1, max: 500_000 })
      .prefault(10_000)
      .describe(
        'Number of keys that have room. A key keeps its room until the gateway restarts; further keys get 429.',
      ),
  },
  [exactlyOneOf('usd', 'tokens'), periodHasCalendar],
).describe('A budget.')

export const budget = definePolicy({
  name: 'budget',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  fileOnly: true,
  decides: true,
  schema: object({
    limits: list(limit, { min: 1, max: 8, uniqueBy: 'name' }).describe('Budgets; a call needs room in all of them.'),
    outputTokens: integer({ min: 1, max: 10_000_000 })
      .prefault(4_096)
      .describe('Output tokens to reserve for a call that sets no maximum itself.'),
    unpriced: enumeration(['Refuse', 'Allow'])
      .prefault('Refuse')
      .describe(
        'Whether a call without a known price is refused with 403, or allowed and not counted in budgets in US dollars.',
      ),
  }).describe(
    'Limits the cost or the tokens of model calls. The most that a call may cost is reserved before it is sent.',
  ),
})

export type BudgetConfig = Output<typeof budget.schema>
