import { conditionalPolicy, type PlainForm } from '../../../schema/conditional.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'
import { enumeration, integer } from '../../../schema/fields/values.ts'

/** The largest integer of custom resources; both numbers together fit into the word that workers share. */
const MOST = 2_147_483_647

const localLimit = object(
  {
    requests: integer({ min: 1, max: MOST }).optional().describe('Requests that each unit of time adds to the budget.'),
    tokens: integer({ min: 1, max: MOST })
      .optional()
      .describe(
        'LLM tokens, of prompts and answers, that each unit of time adds to the budget. They are known when an answer is complete, so the one that crosses the limit still passes.',
      ),
    unit: enumeration(['Seconds', 'Minutes', 'Hours']).describe(
      'Length of a window. The first request begins the first one.',
    ),
    burst: integer({ min: 0, max: MOST })
      .prefault(0)
      .describe(
        'What the budget holds beyond `requests` or `tokens`. It is full at first; once spent, what a window leaves unused fills it again.',
      ),
  },
  [exactlyOneOf('requests', 'tokens')],
).describe('One limit.')

const local = list(localLimit, { min: 1, max: 16 }).describe(
  'Limits that this proxy counts by itself, over all its workers; other replicas count their own. A request must pass all of them.',
)

export const rateLimit = definePolicy({
  name: 'rateLimit',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  traceKey: { local: 'localRateLimit' },
  schema: conditionalPolicy({ local }).describe('Refuses requests beyond a number per unit of time, with status 429.'),
})

export type RateLimitConfig = PlainForm<Output<typeof rateLimit.schema>>
