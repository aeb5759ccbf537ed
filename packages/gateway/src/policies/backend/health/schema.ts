import { definePolicy } from '../../../schema/define-policy.ts'
import { condition } from '../../../schema/fields/expression.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { duration, integer } from '../../../schema/fields/values.ts'

export const health = definePolicy({
  name: 'health',
  section: 'backend',
  attach: ['route', 'backend'],
  merge: 'replace',
  schema: object({
    unhealthyCondition: condition('responseHead')
      .optional()
      .describe(
        'A response for which this expression is true is unhealthy. When unset: responses with status 500 and above. A missing response is always unhealthy.',
      ),
    eviction: object({
      duration: duration({ min: '100ms', max: '24h' })
        .prefault('3s')
        .describe(
          'Duration of the first eviction; the second eviction in a row lasts twice as long, the third three times, and so on.',
        ),
      restoreHealth: integer({ min: 0, max: 100 })
        .optional()
        .describe('Health score of the address after its eviction, in percent; its previous score when unset.'),
      consecutiveFailures: integer({ min: 0, max: 255 })
        .optional()
        .describe(
          'Number of consecutive unhealthy responses that evicts an address; 0 is the same as unset. At most 255, because workers share count, score and time in one word.',
        ),
      healthThreshold: integer({ min: 0, max: 100 })
        .optional()
        .describe(
          'An address is evicted when an unhealthy response reduces its health score, in percent, below this value.',
        ),
    })
      .optional()
      .describe(
        'Evicts unhealthy addresses for some time. One of the two conditions is enough; with neither, one unhealthy response evicts. When `eviction` is unset, responses change only the score.',
      ),
  }).describe('Defines unhealthy responses, and when they evict an address of the backend.'),
})

export type HealthConfig = Output<typeof health.schema>
