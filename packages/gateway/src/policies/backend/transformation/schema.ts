import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { transform } from '../../../schema/fields/transform.ts'

export const transformation = definePolicy({
  name: 'transformation',
  section: 'backend',
  attach: ['route', 'backend'],
  merge: 'replace',
  schema: object({
    request: transform('request', 'backend')
      .optional()
      .describe('Changes to the request of each attempt, before it is sent.'),
    response: transform('response', 'response').optional().describe('Changes to the response of this backend.'),
  }).describe('Changes the requests and responses of one backend, with CEL expressions.'),
})

export type BackendTransformationConfig = Output<typeof transformation.schema>
