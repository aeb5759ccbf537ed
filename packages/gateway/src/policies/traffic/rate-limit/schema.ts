import { bool, number, oneOf, string as text } from '@portico/cel/declare'
import { conditionalPolicy, type PlainForm } from '../../../schema/fields/conditional.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { atLeastOneOf, exactlyOneOf, onlyWith } from '../../../schema/rules.ts'
import { expression } from '../../../schema/fields/expression.ts'
import { serviceReference } from '../../../schema/fields/references.ts'
import { duration, enumeration, integer, string } from '../../../schema/fields/values.ts'

/** The largest integer of custom resources; both numbers together fit into the word that workers share. */
const MOST = 2_147_483_647

const scalars = oneOf(bool, number, text)

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
    key: expression('request', scalars)
      .optional()
      .describe(
        'Gives each value of this expression a budget of its own, such as `apiKey.name`, `jwt.sub` or `source.address`. Requests for which it fails share one.',
      ),
    keys: object({
      size: integer({ min: 1, max: 1_000_000 })
        .prefault(10_000)
        .describe(
          'For so many keys at once there is room, and for up to twice as many by chance; each takes 48 bytes, for all workers together. A budget that is full again makes room for another, the one that is so for longest first.',
        ),
      failureMode: enumeration(['FailClosed', 'FailOpen'])
        .prefault('FailClosed')
        .describe(
          'What happens to a request whose key finds no room, because all budgets there are in use: status 429 (`FailClosed`), or it passes uncounted.',
        ),
    })
      .optional()
      .describe('The table of keys.'),
  },
  [exactlyOneOf('requests', 'tokens'), onlyWith('keys', 'key')],
).describe('One limit.')

const local = list(localLimit, { min: 1, max: 16 }).describe(
  'Limits that this proxy counts by itself, over all its workers; other replicas count their own. A request must pass all of them.',
)

const descriptor = object({
  entries: list(
    object({
      name: string({ min: 1, max: 64 }).describe('Name of the entry, as the server knows it.'),
      expression: expression('request', scalars).describe('Its value.'),
    }).describe('One entry.'),
    { min: 1, max: 16 },
  ).describe('What is counted together. A descriptor with an entry whose expression fails is not sent.'),
  unit: enumeration(['Requests', 'Tokens'])
    .prefault('Requests')
    .describe(
      '`Requests` counts each request before it goes on. `Tokens` counts what a call to a model has used, once it is over; before it goes on the server is only asked whether anything is left.',
    ),
  cost: expression('log', number)
    .optional()
    .describe(
      'What is counted instead of 1, or of all tokens: a whole number of 0 and more. Of `Requests` it sees the request; of `Tokens` also `llm`, and `response` where the answer is not streamed.',
    ),
}).describe('One descriptor.')

const global = object({
  backendRef: serviceReference().describe('The rate limit service; its backend policies hold for the calls.'),
  domain: string({ min: 1, max: 256 }).describe('Tells applications apart at the server.'),
  descriptors: list(descriptor, { min: 1, max: 16 }).describe(
    'What the server counts by. It refuses when one of them is exceeded.',
  ),
  failureMode: enumeration(['FailClosed', 'FailOpen'])
    .prefault('FailClosed')
    .describe('What happens to requests when the server cannot be asked: status 500 (`FailClosed`), or they pass.'),
  timeout: duration({ min: '1ms' })
    .prefault('1s')
    .describe('How long the server may take. After it, it counts as one that cannot be asked.'),
}).describe(
  'Limits that a server counts for all gateways: `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`.',
)

export const rateLimit = definePolicy({
  name: 'rateLimit',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  traceKey: { local: 'localRateLimit', global: 'remoteRateLimit' },
  schema: conditionalPolicy({ local: local.optional(), global: global.optional() }, [
    atLeastOneOf('local', 'global'),
  ]).describe('Refuses requests beyond a number per unit of time, with status 429.'),
})

export type RateLimitConfig = PlainForm<Output<typeof rateLimit.schema>>
export type GlobalLimitConfig = NonNullable<RateLimitConfig['global']>
export type LocalLimitConfig = NonNullable<RateLimitConfig['local']>[number]
