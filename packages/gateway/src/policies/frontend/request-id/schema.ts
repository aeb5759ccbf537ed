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
    header: editableHeaderName().prefault('x-request-id').describe('The header that has it.'),
    inResponses: boolean()
      .prefault(false)
      .describe(
        'Whether answers of backends that have no such header get it too; answers of the gateway itself always do.',
      ),
  }).describe('Gives every request an id: the one of a trusted peer, or a new one.'),
})

export type RequestIdConfig = Output<typeof requestId.schema>
