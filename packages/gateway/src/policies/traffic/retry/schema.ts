import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { duration, integer } from '../../../schema/fields/values.ts'

export const retry = definePolicy({
  name: 'retry',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  schema: object({
    attempts: integer({ min: 1, max: 255 })
      .prefault(1)
      .describe('Largest number of retries, not counting the first attempt.'),
    backoff: duration({ max: '1h' }).optional().describe('Pause before each retry; none when unset.'),
    codes: list(integer({ min: 400, max: 599 }).describe('A status code.'), { max: 64 })
      .prefault([])
      .describe(
        'Backend status codes that cause a retry. A call that failed or timed out is retried if nothing was sent or its method is idempotent.',
      ),
  }).describe(
    'Retries a request when the backend fails, if its body is still buffered: bodies up to 64 KiB, or any size if a policy has read the whole body. Retries have the header `x-retry-attempt`.',
  ),
})

export type RetryConfig = Output<typeof retry.schema>
