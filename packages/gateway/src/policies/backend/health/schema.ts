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
        'Responses for which this is true are unhealthy; those with a status from 500 on when unset. No response at all is always unhealthy.',
      ),
    eviction: object({
      duration: duration({ min: '100ms', max: '24h' })
        .prefault('3s')
        .describe('How long an address is left out the first time; the second time in a row twice as long, and so on.'),
      restoreHealth: integer({ min: 0, max: 100 })
        .optional()
        .describe('Health score, in percent, that it returns with; the one it had when unset.'),
      consecutiveFailures: integer({ min: 0, max: 255 })
        .optional()
        .describe(
          'Unhealthy responses in a row that evict an address; 0 is as if unset. At most 255, because workers share the count in one word with score and time.',
        ),
      healthThreshold: integer({ min: 0, max: 100 })
        .optional()
        .describe(
          'An address is evicted when an unhealthy response lets its health score, in percent, fall below this.',
        ),
    })
      .optional()
      .describe(
        'Leaves addresses out for a while. Either condition is enough; with neither, one unhealthy response is. Unset, only the score moves.',
      ),
  }).describe('Which responses count as unhealthy, and when an address of the backend is left out because of them.'),
})

export type HealthConfig = Output<typeof health.schema>
