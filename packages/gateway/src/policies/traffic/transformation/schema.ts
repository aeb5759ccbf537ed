import { definePolicy } from '../../../schema/define-policy.ts'
import { conditionalPolicy } from '../../../schema/fields/conditional.ts'
import type { Output } from '../../../schema/kit.ts'
import { transform } from '../../../schema/fields/transform.ts'

export const transformation = definePolicy({
  name: 'transformation',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'transformation',
  schema: conditionalPolicy({
    request: transform('request', 'request')
      .optional()
      .describe('Changes to the request, before it is sent to the backend.'),
    response: transform('response', 'response')
      .optional()
      .describe('Changes to the response, before it is sent to the client.'),
  }).describe('Changes requests and responses with CEL expressions.'),
})

export type TransformationConfig = Output<typeof transformation.schema>
