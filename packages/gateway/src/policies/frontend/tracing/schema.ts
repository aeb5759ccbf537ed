import { definePolicy } from '../../../schema/define-policy.ts'
import { attributes } from '../../../schema/fields/attributes.ts'
import { collectorFields } from '../../../schema/fields/collector.ts'
import { readExpression, longestExpression } from '../../../schema/fields/expression.ts'
import { defaultFields, oneOfFields } from '../../../schema/fields/line-fields.ts'
import { string } from '../../../schema/fields/values.ts'
import { filledInResources, list, object, Refusal, scalar } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'

/** Fields of the access log that spans do not repeat, because a span has its own form for them. */
const unsaid: readonly string[] = ['error', 'duration', 'trace_id', 'span_id']

/** The attributes that spans have without any config: the fields of the access log, and those of spans alone. */
const ownAttributes: readonly string[] = [
  ...defaultFields.filter((name) => !unsaid.includes(name)),
  'url.scheme',
  'network.protocol.version',
  'portico.call',
  'http.request.resend_count',
]

export const tracing = definePolicy({
  name: 'tracing',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  schema: object({
    ...collectorFields('/v1/traces'),
    attributes: filledInResources(
      object({
        remove: list(
          oneOfFields(ownAttributes, 'an attribute that spans have, such as `http.method`').describe(
            'Name of an attribute.',
          ),
          { min: 1, max: 32 },
        )
          .optional()
          .describe('Default attributes to omit.'),
        add: attributes('log', attributeName(), 64)
          .optional()
          .describe(
            'Additional attributes of the span of a request. An attribute with the name of a default attribute replaces it; `span.name` replaces the name of the span. An attribute whose expression fails or returns null is omitted.',
          ),
      }),
    )
      .optional()
      .describe('Changes the attributes of spans.'),
    resources: attributes('process', attributeName(), 64)
      .optional()
      .describe(
        'OpenTelemetry resource attributes, computed once. An attribute whose expression fails or returns null is omitted.',
      ),
    randomSampling: sampling()
      .optional()
      .describe(
        'Sampling of requests without a trace context: a ratio from 0 to 1, or true or false. None when unset.',
      ),
    clientSampling: sampling()
      .optional()
      .describe(
        'Sampling of requests whose client sent a sampled trace context: a ratio from 0 to 1, or true or false. All when unset.',
      ),
  }).describe('Sends spans of requests, and of the calls that they cause, to an OTLP collector.'),
})

export type TracingConfig = Output<typeof tracing.schema>

function attributeName(): Schema<string> {
  return string({ min: 1, max: 256 })
}

/** An expression over the request, or a constant, which is printed as text. */
function sampling(): Schema<string> {
  return scalar(
    (input) => {
      if (typeof input === 'number') return input >= 0 && input <= 1 ? String(input) : new Refusal('out_of_range')
      return typeof input === 'boolean' ? String(input) : readExpression(input, 'start')
    },
    {
      type: 'expression',
      expected: 'a share from 0 to 1, true or false, or a CEL expression that gives one of these',
      json: {
        anyOf: [
          { type: 'number', minimum: 0, maximum: 1 },
          { type: 'boolean' },
          { type: 'string', minLength: 1, maxLength: longestExpression },
        ],
      },
      crd: { type: 'string', minLength: 1, maxLength: longestExpression },
    },
  )
}
