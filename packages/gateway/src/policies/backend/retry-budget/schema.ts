import { definePolicy } from '../../../schema/define-policy.ts'
import { duration, integer } from '../../../schema/fields/values.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'

export const retryBudget = definePolicy({
  name: 'retryBudget',
  section: 'backend',
  attach: ['backend'],
  merge: 'replace',
  fileOnly: true,
  schema: object({
    percent: integer({ min: 0, max: 100 })
      .prefault(20)
      .describe('Largest share of retries in the requests to the backend, in percent.'),
    interval: duration({ min: '1s', max: '1h' })
      .prefault('10s')
      .describe('Period over which requests and retries are counted.'),
    minRetryRate: object({
      count: integer({ min: 0, max: 1_000_000 }).prefault(10).describe('Number of retries; 0 is no minimum.'),
      interval: duration({ min: '1ms', max: '1h' }).prefault('1s').describe('Period in which they are allowed.'),
    })
      .prefault({})
      .describe('Retries that are always allowed, so that a backend with few requests has retries too.'),
  }).describe(
    'Limits the retries of all routes to this backend. A request that needs another retry gets 503 once the budget is spent.',
  ),
})

export type RetryBudgetConfig = Output<typeof retryBudget.schema>
