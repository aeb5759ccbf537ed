import { attributes } from '../../../schema/fields/attributes.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { collectorFields } from '../../../schema/fields/collector.ts'
import { condition } from '../../../schema/fields/expression.ts'
import { defaultFields, oneOfFields } from '../../../schema/fields/line-fields.ts'
import { filledInResources, list, object, Refusal, scalar } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'

/** Field names that every line uses itself. */
const taken = ['level', 'time', 'scope']

export const accessLog = definePolicy({
  name: 'accessLog',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  schema: object({
    filter: condition('log')
      .optional()
      .describe(
        'Logs only requests and connections for which this expression is true; an expression that fails is false.',
      ),
    attributes: filledInResources(
      object({
        remove: list(
          oneOfFields(defaultFields, 'a field that lines of the access log have, such as `http.method`').describe(
            'Name of a field.',
          ),
          { min: 1, max: 32 },
        )
          .optional()
          .describe('Default fields to omit.'),
        add: attributes('log', addedField(), 64)
          .optional()
          .describe(
            'Additional fields at the end of a line, in this order. A field with the name of a default field replaces it. A field whose expression fails or returns null is omitted.',
          ),
      }),
    )
      .optional()
      .describe('Changes the fields of a line.'),
    otlp: object(collectorFields('/v1/logs'))
      .optional()
      .describe('Also sends the access log to an OTLP collector, whether or not the gateway writes log lines.'),
  }).describe('Configures the access log of requests and connections.'),
})

export type AccessLogConfig = Output<typeof accessLog.schema>

function addedField(): Schema<string> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      if (input.length < 1 || input.length > 256) return new Refusal('out_of_range')
      return taken.includes(input) ? new Refusal('not_allowed') : input
    },
    {
      type: 'string',
      expected: 'a name of 1 to 256 characters other than `level`, `time` and `scope`',
      json: { type: 'string', minLength: 1, maxLength: 256, not: { enum: taken } },
      crd: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        'x-kubernetes-validations': [
          { rule: `!(self in ['${taken.join("', '")}'])`, message: 'must be another name than level, time and scope' },
        ],
      },
    },
  )
}
