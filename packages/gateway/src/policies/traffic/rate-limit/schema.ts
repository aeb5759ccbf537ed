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
        'LLM tokens, of prompts and responses, that each unit of time adds to the budget. Tokens are counted when a response is complete, so the response that exceeds the limit still passes.',
      ),
    unit: enumeration(['Seconds', 'Minutes', 'Hours']).describe(
      'Length of a window. The first window begins with the first request.',
    ),
    burst: integer({ min: 0, max: MOST })
      .prefault(0)
      .describe(
        'Capacity of the budget in addition to `requests` or `tokens`. It is full at first; later, unused budget of a window refills it.',
      ),
    key: expression('request', scalars)
      .optional()
      .describe(
        'Each value of this expression has its own budget, for example `apiKey.name`, `jwt.sub` or `source.address`. Requests for which the expression fails share one budget.',
      ),
    keys: object({
      size: integer({ min: 1, max: 1_000_000 })
        .prefault(10_000)
        .describe(
          'Number of keys that the table has room for; by chance up to twice as many fit. A key takes 48 bytes, shared by all workers. When the table is full, a new key replaces the key whose budget has been full for the longest time.',
        ),
      failureMode: enumeration(['FailClosed', 'FailOpen'])
        .prefault('FailClosed')
        .describe(
          'What happens to a request whose key finds no room because all budgets are in use: it gets 429 (`FailClosed`), or it passes uncounted (`FailOpen`).',
        ),
    })
      .optional()
      .describe('The table of keys.'),
  },
  [exactlyOneOf('requests', 'tokens'), onlyWith('keys', 'key')],
).describe('A limit.')

const local = list(localLimit, { min: 1, max: 16 }).describe(
  'Limits that this gateway counts in memory, over all its workers; each replica counts separately. A request must pass all limits.',
)

const descriptor = object({
  entries: list(
    object({
      name: string({ min: 1, max: 64 }).describe('Key of the entry, as in the config of the rate limit service.'),
      expression: expression('request', scalars).describe('Expression for the value.'),
    }).describe('An entry.'),
    { min: 1, max: 16 },
  ).describe(
    'Entries of the descriptor; requests with equal values count together. If an expression fails, the descriptor is not sent.',
  ),
  unit: enumeration(['Requests', 'Tokens'])
    .prefault('Requests')
    .describe(
      '`Requests` counts each request before it is forwarded. `Tokens` counts the tokens of a model call after it ends; before the call, the gateway only checks whether the limit is reached.',
    ),
  cost: expression('log', number)
    .optional()
    .describe(
      'Number to count instead of 1, or instead of all tokens: an integer, at least 0. With `Requests` it reads the request; with `Tokens` also `llm`, and `response` if it is not streamed.',
    ),
}).describe('A descriptor.')

const global = object({
  backendRef: serviceReference().describe('The rate limit service; its backend policies apply to the calls.'),
  domain: string({ min: 1, max: 256 }).describe('Domain of the limits in the config of the rate limit service.'),
  descriptors: list(descriptor, { min: 1, max: 16 }).describe(
    'Descriptors of a request. The request is denied when the limit of one of them is exceeded.',
  ),
  failureMode: enumeration(['FailClosed', 'FailOpen'])
    .prefault('FailClosed')
    .describe('What happens to a request when the call fails: it gets 500 (`FailClosed`), or it passes (`FailOpen`).'),
  timeout: duration({ min: '1ms' }).prefault('1s').describe('Timeout of the call. A timeout is a failed call.'),
}).describe(
  'Limits that a rate limit service counts for all gateways: `envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit`.',
)

export const rateLimit = definePolicy({
  name: 'rateLimit',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  traceKey: { local: 'localRateLimit', global: 'remoteRateLimit' },
  decides: true,
  schema: conditionalPolicy({ local: local.optional(), global: global.optional() }, [
    atLeastOneOf('local', 'global'),
  ]).describe('Limits the number of requests or tokens per unit of time; denied requests get 429.'),
})

export type RateLimitConfig = PlainForm<Output<typeof rateLimit.schema>>
export type GlobalLimitConfig = NonNullable<RateLimitConfig['global']>
export type LocalLimitConfig = NonNullable<RateLimitConfig['local']>[number]
