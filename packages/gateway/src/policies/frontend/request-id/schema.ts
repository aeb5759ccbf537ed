import { definePolicy } from '../../../schema/define-policy.ts'
import { editableHeaderName } from '../../../schema/fields/http-parts.ts'
import { boolean } from '../../../schema/fields/values.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'

export const requestId = definePolicy({
  name: 'requestId',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  schema: object({
    header: editableHeaderName().prefault('x-request-id').describe('Header that carries the request id.'),
    inResponses: boolean()
      .prefault(false)
      .describe(
        "Whether the header is added to backend responses that lack it. The gateway's own responses always have it.",
      ),
  }).describe('Gives every request an id: the id from a trusted peer, or a new one.'),
})

export type RequestIdConfig = Output<typeof requestId.schema>
