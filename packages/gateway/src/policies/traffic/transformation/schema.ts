import { definePolicy } from '../../../schema/define-policy.ts'
import { conditionalForms } from '../../../schema/conditional.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { conditionalOr } from '../../../schema/rules.ts'
import { transform } from '../../../schema/fields/transform.ts'

const plain = {
  request: transform('request', 'request')
    .optional()
    .describe('Changes to the request, before it is sent to the backend.'),
  response: transform('response', 'response')
    .optional()
    .describe('Changes to the response, before it is sent to the client.'),
}

export const transformation = definePolicy({
  name: 'transformation',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'transformation',
  schema: object({ ...plain, conditional: conditionalForms(object(plain)) }, [
    conditionalOr('request', 'response'),
  ]).describe('Changes requests and responses by CEL expressions.'),
})

export type TransformationConfig = Output<typeof transformation.schema>
