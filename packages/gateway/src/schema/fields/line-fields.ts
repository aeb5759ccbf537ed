import { localForm, Refusal, scalar } from '../kit.ts'
import type { Schema } from '../kit.ts'
import { didYouMean } from '../../formats/suggest.ts'
import { string } from './values.ts'

/** The default fields of a line of the access log, in order. */
export const defaultFields = [
  'gateway',
  'listener',
  'route',
  'endpoint',
  'src.addr',
  'src.identity',
  'http.method',
  'http.host',
  'http.path',
  'http.version',
  'http.status',
  'grpc.status',
  'tls.sni',
  'trace_id',
  'span_id',
  'request.id',
  'decision.id',
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
  'portico.ai.units',
  'gen_ai.usage.estimated',
  'portico.ai.cost_usd',
  'portico.ai.cache',
  'portico.ai.saved_usd',
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
  'rehearsal',
  'shadow',
  'error',
  'reason',
  'duration',
] as const

/**
 * The name of a default field. A resource may name any field, as SPEC 2.9 says, and unknown names have no effect; in
 * the file they are errors.
 */
export function oneOfFields(names: readonly string[], expected: string): Schema<string> {
  const known = scalar(
    (input) => {
      if (typeof input !== 'string') return new Refusal('wrong_type')
      if (names.includes(input)) return input
      return new Refusal('not_allowed', { suggestion: didYouMean(input, names) })
    },
    {
      type: 'string',
      expected,
      json: { enum: [...names] },
      crd: { type: 'string', enum: [...names] },
      values: names,
    },
  )
  return localForm(known, string({ min: 1, max: 64 }), null)
}
