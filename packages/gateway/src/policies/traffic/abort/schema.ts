import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { conditionalPolicy, type PlainForm } from '../../../schema/fields/conditional.ts'
import { editableHeaderName, headerValue } from '../../../schema/fields/http-parts.ts'
import { integer, number, string } from '../../../schema/fields/values.ts'

const header = object({
  name: editableHeaderName().describe('Name of the header.'),
  value: headerValue().describe('Literal value.'),
}).describe('A header line.')

export const abort = definePolicy({
  name: 'abort',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  schema: conditionalPolicy({
    status: integer({ min: 400, max: 599 }).describe('Status code of the response.'),
    body: string({ min: 1, max: 4_096 })
      .optional()
      .describe(
        'Body of the response. When unset, the body is a message in the format of the clients: text, or an error of a model API.',
      ),
    headers: list(header, { max: 16 }).optional().describe('Headers of the response.'),
    grpcStatus: integer({ min: 1, max: 16 })
      .optional()
      .describe('Status that gRPC clients get; when unset, the gRPC status that corresponds to `status`.'),
    percentage: number({ min: 0, max: 100 })
      .optional()
      .describe('Percentage of requests that are aborted; all requests when unset.'),
  }).describe('Answers requests with an error on purpose, to rehearse a failing backend, which is not called.'),
})

export type AbortConfig = PlainForm<Output<typeof abort.schema>>
