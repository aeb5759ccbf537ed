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
        'Timeout from the first byte sent to a backend to the end of the response, over all attempts. It also cuts longer streams. No limit when unset.',
      ),
  }).describe('Limits the duration of a request; a request that takes longer gets 504.'),
})

export type TimeoutsConfig = Output<typeof timeouts.schema>
