import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { editableHeaderName, headerValue } from '../../../schema/fields/http-parts.ts'
import { conditionalForms } from '../../../schema/conditional.ts'
import { conditionalOr, exactlyOneOf } from '../../../schema/rules.ts'
import { integer, string } from '../../../schema/fields/values.ts'

const header = object({
  name: editableHeaderName().describe('Name of the header.'),
  value: headerValue().describe('Literal value.'),
}).describe('One header line.')

const status = integer({ min: 200, max: 599 }).describe('Status code of the answer.')
const rest = {
  body: string({ min: 1, max: 4_096 }).optional().describe('Body of the answer; empty when unset.'),
  headers: list(header, { max: 16 }).optional().describe('Headers of the answer. No content type is added by itself.'),
}

export const directResponse = definePolicy({
  name: 'directResponse',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  traceKey: 'directResponse',
  schema: object({ ...rest, status: status.optional(), conditional: conditionalForms(object({ status, ...rest })) }, [
    exactlyOneOf('status', 'conditional'),
    conditionalOr('body', 'headers'),
  ]).describe('Answers by itself instead of calling a backend.'),
})

type Config = Output<typeof directResponse.schema>
export type DirectResponseConfig = Omit<Config, 'conditional' | 'status'> & { status: NonNullable<Config['status']> }
