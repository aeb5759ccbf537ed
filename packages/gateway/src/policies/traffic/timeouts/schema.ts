import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { duration } from '../../../schema/fields/values.ts'

export const timeouts = definePolicy({
  name: 'timeouts',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  schema: object({
    request: duration({ min: '1ms' })
      .optional()
      .describe(
        'Longest time from the first byte sent to a backend to the full response, over all tries. It cuts streams that last longer. No limit when unset.',
      ),
  }).describe('Limits how long a request may take; answers 504 when the time is over.'),
})

export type TimeoutsConfig = Output<typeof timeouts.schema>
