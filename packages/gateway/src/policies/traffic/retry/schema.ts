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
    attempts: integer({ min: 1, max: 255 }).prefault(1).describe('How often to try again after the first try.'),
    backoff: duration({ max: '1h' }).optional().describe('Pause before each retry; none when unset.'),
    codes: list(integer({ min: 400, max: 599 }).describe('A status code.'), { max: 64 })
      .prefault([])
      .describe(
        'Status codes of the backend that cause a retry. A call that failed or timed out is retried when nothing of it was sent or its method is idempotent.',
      ),
  }).describe(
    'Sends a request again when the backend fails. A request is retried only while its body is still at hand: up to 64 KiB of it, or all of it where a policy has read it whole. Retries carry `x-retry-attempt`.',
  ),
})

export type RetryConfig = Output<typeof retry.schema>
