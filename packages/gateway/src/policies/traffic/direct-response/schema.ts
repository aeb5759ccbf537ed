import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { editableHeaderName, headerValue } from '../../../schema/fields/http-parts.ts'
import { conditionalPolicy, type PlainForm } from '../../../schema/fields/conditional.ts'
import { integer, string } from '../../../schema/fields/values.ts'

const header = object({
  name: editableHeaderName().describe('Name of the header.'),
  value: headerValue().describe('Literal value.'),
}).describe('A header line.')

export const directResponse = definePolicy({
  name: 'directResponse',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  traceKey: 'directResponse',
  schema: conditionalPolicy({
    status: integer({ min: 200, max: 599 }).describe('Status code of the response.'),
    body: string({ min: 1, max: 4_096 }).optional().describe('Body of the response; empty when unset.'),
    headers: list(header, { max: 16 })
      .optional()
      .describe('Headers of the response. No content type is added by default.'),
  }).describe('Responds with a fixed response, without calling a backend.'),
})

export type DirectResponseConfig = PlainForm<Output<typeof directResponse.schema>>
