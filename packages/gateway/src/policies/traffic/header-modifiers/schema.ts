import { definePolicy } from '../../../schema/define-policy.ts'
import { filledInResources, list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { editableHeaderName, headerValue } from '../../../schema/fields/http-parts.ts'

const header = object({
  name: editableHeaderName().describe('Name of the header.'),
  value: headerValue().describe('Literal value.'),
}).describe('A header line.')

function changes(message: string) {
  return object({
    set: list(header, { min: 1, max: 16 })
      .optional()
      .describe(`Headers that replace headers of the same name in the ${message}.`),
    add: list(header, { min: 1, max: 16 })
      .optional()
      .describe(`Headers appended to the ${message}; headers of the same name stay.`),
    remove: list(editableHeaderName().describe('Name of a header.'), { min: 1, max: 16 })
      .optional()
      .describe(`Headers removed from the ${message}.`),
  })
}

export const headerModifiers = definePolicy({
  name: 'headerModifiers',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  traceKey: { request: 'requestHeaderModifier', response: 'responseHeaderModifier' },
  schema: filledInResources(
    object({
      request: changes('request').optional().describe('Changes to the request before it is sent to the backend.'),
      response: changes('response').optional().describe('Changes to the response before it is sent to the client.'),
    }),
  ).describe(
    'Changes headers with literal values, in the order add, set, remove. In requests, `host` is the authority.',
  ),
})

export type HeaderModifiersConfig = Output<typeof headerModifiers.schema>
