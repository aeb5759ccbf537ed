import { attributes } from '../../../schema/fields/attributes.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { collectorFields } from '../../../schema/fields/collector.ts'
import { duration } from '../../../schema/fields/values.ts'
import { object, Refusal, scalar } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { atLeastOneOf } from '../../../schema/rules.ts'

/** Labels that the metrics of requests have by themselves. */
export const ownLabels = [
  'backend',
  'protocol',
  'method',
  'status',
  'reason',
  'bind',
  'gateway',
  'listener',
  'route',
  'route_rule',
  'gen_ai_token_type',
  'gen_ai_operation_name',
  'gen_ai_system',
  'gen_ai_request_model',
  'gen_ai_response_model',
  'resource_type',
  'server',
  'resource',
  'outcome',
  'le',
] as const

/** Label names that Prometheus accepts; names that start with two underscores are reserved. */
const labelPattern = '^([a-zA-Z]|_[a-zA-Z0-9])[a-zA-Z0-9_]*$'

export const metrics = definePolicy({
  name: 'metrics',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  schema: object(
    {
      attributes: object({
        add: attributes('log', labelName(), 16).describe(
          'Labels of the request metrics, computed at the end of each request. The value is `unknown` when the expression fails or returns something other than a string, a number or a boolean.',
        ),
      })
        .optional()
        .describe('Additional labels.'),
      otlp: object({
        ...collectorFields('/v1/metrics'),
        interval: duration({ min: '1s', max: '1h' }).prefault('60s').describe('Time between two pushes.'),
      })
        .optional()
        .describe(
          'Pushes all metrics to an OTLP collector at intervals; the metrics server works independently of it.',
        ),
    },
    [atLeastOneOf('attributes', 'otlp')],
  ).describe('Adds labels to the request metrics, and pushes metrics to an OTLP collector.'),
})

export type MetricsConfig = Output<typeof metrics.schema>
export type MetricsOtlpConfig = NonNullable<MetricsConfig['otlp']>

function labelName(): Schema<string> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      if (input.length < 1 || input.length > 256) return new Refusal('out_of_range')
      if (!new RegExp(labelPattern).test(input)) return new Refusal('bad_format')
      if (!ownLabels.some((name) => name === input)) return input
      return new Refusal('not_allowed', { detail: 'the metrics have this label already' })
    },
    {
      type: 'string',
      expected: 'a label of letters, digits and `_` that starts with a letter or one `_`',
      json: { type: 'string', minLength: 1, maxLength: 256, pattern: labelPattern, not: { enum: [...ownLabels] } },
      crd: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        pattern: labelPattern,
        'x-kubernetes-validations': [
          { rule: `!(self in ['${ownLabels.join("', '")}'])`, message: 'must be a label that the metrics do not have' },
        ],
      },
    },
  )
}
