import { definePolicy } from '../../../schema/define-policy.ts'
import type { Output } from '../../../schema/kit.ts'
import { conditionalPolicy, type PlainForm } from '../../../schema/fields/conditional.ts'
import { duration, number } from '../../../schema/fields/values.ts'

export const delay = definePolicy({
  name: 'delay',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  schema: conditionalPolicy({
    time: duration({ min: '1ms', max: '1m' }).describe('Time that a request waits before it goes on.'),
    jitter: duration({ min: '1ms', max: '1m' })
      .optional()
      .describe('Longest random time that is added to `time`, different for each request; none when unset.'),
    percentage: number({ min: 0, max: 100 })
      .optional()
      .describe('Percentage of requests that are delayed; all requests when unset.'),
  }).describe('Delays requests on purpose, to rehearse a slow backend.'),
})

export type DelayConfig = PlainForm<Output<typeof delay.schema>>
