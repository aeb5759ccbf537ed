import { attributes } from '../../../schema/fields/attributes.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { collectorFields } from '../../../schema/fields/collector.ts'
import { condition } from '../../../schema/fields/expression.ts'
import { list, object, Refusal, scalar } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { didYouMean } from '../../../schema/suggest.ts'

/** What a line has by itself, in order. */
export const defaultFields = [
  'gateway',
  'listener',
  'route',
  'endpoint',
  'src.addr',
  'http.method',
  'http.host',
  'http.path',
  'http.version',
  'http.status',
  'grpc.status',
  'tls.sni',
  'protocol',
  'retry.attempt',
  'request.bytes',
  'response.bytes',
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_creation.input_tokens',
  'gen_ai.usage.reasoning_tokens',
  'gen_ai.usage.input_audio_tokens',
  'gen_ai.usage.output_audio_tokens',
  'gen_ai.usage.estimated',
  'portico.ai.attempts',
  'portico.ai.time_to_first_token',
  'portico.ai.time_per_output_token',
  'mcp.method.name',
  'mcp.target',
  'mcp.resource.type',
  'mcp.resource.uri',
  'gen_ai.tool.name',
  'gen_ai.prompt.name',
  'mcp.task.id',
  'mcp.session.id',
  'mcp.protocol.version',
  'mcp.outcome',
  'mcp.error.code',
  'mcp.error.message',
  'mcp.target.duration',
  'error',
  'reason',
  'duration',
] as const

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
    attributes: object({
      remove: list(defaultField().describe('Name of a field.'), { min: 1, max: 32 })
        .optional()
        .describe('Fields that lines have by themselves, and that are left out.'),
      add: attributes('log', addedField(), 64)
        .optional()
        .describe(
          'Fields at the end of a line, in this order. One of a name that lines have by themselves replaces that one. A field whose expression fails or gives null is left out.',
        ),
    })
      .optional()
      .describe('Which fields a line has.'),
    otlp: object(collectorFields('/v1/logs'))
      .optional()
      .describe('Sends what is logged to a collector of OpenTelemetry too, whether it is written to the log or not.'),
  }).describe('Chooses what is logged of requests and connections.'),
})

export type AccessLogConfig = Output<typeof accessLog.schema>

function defaultField(): Schema<string> {
  return scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      if (defaultFields.some((name) => name === input)) return input
      return new Refusal('not_allowed', { suggestion: didYouMean(input, defaultFields) })
    },
    {
      type: 'string',
      expected: 'a field that lines of the access log have, such as `http.method`',
      json: { enum: [...defaultFields] },
      crd: { type: 'string', minLength: 1, maxLength: 64 },
      values: defaultFields,
    },
  )
}

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
      crd: { type: 'string', minLength: 1, maxLength: 256 },
    },
  )
}
