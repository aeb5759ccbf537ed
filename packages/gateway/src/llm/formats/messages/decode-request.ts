import { Fields } from '../../fields.ts'
import { withoutAbsent } from '../../../wire/json.ts'
import type { ChatRequest, JsonObject, OutputFormat, Sampling, Unsupported } from '../../middle.ts'
import { decodeMessages, decodeSystem } from './decode-messages.ts'
import { decodeReasoning } from './decode-reasoning.ts'
import { decodeToolChoice, decodeTools } from './decode-tools.ts'

export function decodeRequest(body: JsonObject): ChatRequest | Unsupported {
  const fields = new Fields(body)
  const model = fields.text('model') ?? ''
  const system = decodeSystem(fields)
  const messages = decodeMessages(fields)
  const { tools, nativeTools } = decodeTools(fields)
  const { toolChoice, parallelTools, nativeChoice } = decodeToolChoice(fields)
  const config = fields.fields('output_config')
  const output = decodeOutput(fields, config)
  const reasoning = decodeReasoning(fields, config)
  const metadata = fields.fields('metadata')
  const user = metadata?.text('user_id') ?? null
  const request: ChatRequest = {
    format: 'messages',
    model,
    system,
    messages,
    tools,
    toolChoice,
    parallelTools,
    sampling: decodeSampling(fields),
    reasoning,
    output,
    stream: fields.boolean('stream') ?? false,
    user,
    rest: {},
  }
  const restOfConfig = config?.rest()
  const restOfMetadata = metadata?.rest()
  request.rest = {
    ...fields.rest(),
    ...nativeTools,
    ...nativeChoice,
    ...(restOfConfig !== undefined && { output_config: restOfConfig }),
    ...(restOfMetadata !== undefined && { metadata: restOfMetadata }),
  }
  return fields.fault ?? request
}

function decodeSampling(fields: Fields): Sampling {
  return withoutAbsent({
    maxTokens: fields.number('max_tokens'),
    temperature: fields.number('temperature'),
    topP: fields.number('top_p'),
    topK: fields.number('top_k'),
    stop: fields.texts('stop_sequences'),
  })
}

/** `output_format` is the name of old. */
function decodeOutput(fields: Fields, config: Fields | undefined): OutputFormat {
  const older = fields.fields('output_format')
  const format = config?.fields('format') ?? older
  if (format === undefined) return { kind: 'text' }
  if (format.text('type') !== 'json_schema') format.fail('type', 'json_schema')
  return { kind: 'schema', name: 'structured_output', schema: format.object('schema') ?? {} }
}
