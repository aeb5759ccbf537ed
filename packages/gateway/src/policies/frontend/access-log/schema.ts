import { attributes } from '../../../schema/fields/attributes.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { collectorFields } from '../../../schema/fields/collector.ts'
import { condition } from '../../../schema/fields/expression.ts'
import { defaultFields, oneOfFields } from '../../../schema/fields/line-fields.ts'
import { filledInResources, list, object, Refusal, scalar } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'

/** Words that every line has to say what it is. */
const taken = ['level', 'time', 'scope']

export const accessLog = definePolicy({
  name: 'accessLog',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  schema: object({
    filter: condition('log')
      .optional()
      .describe('Only what makes this expression true is logged; one that fails is not.'),
    attributes: filledInResources(
      object({
        remove: list(
          oneOfFields(defaultFields, 'a field that lines of the access log have, such as `http.method`').describe(
            'Name of a field.',
          ),
          { min: 1, max: 32 },
        )
          .optional()
          .describe('Fields that lines have by themselves, and that are left out.'),
        add: attributes('log', addedField(), 64)
          .optional()
          .describe(
            'Fields at the end of a line, in this order. One of a name that lines have by themselves replaces that one. A field whose expression fails or gives null is left out.',
          ),
      }),
    )
      .optional()
      .describe('Which fields a line has.'),
    otlp: object(collectorFields('/v1/logs'))
      .optional()
      .describe('Also sends the access log to an OpenTelemetry collector, whether or not lines are written.'),
  }).describe('Chooses what is logged of requests and connections.'),
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
