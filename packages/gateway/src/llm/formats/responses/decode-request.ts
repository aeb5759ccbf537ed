import { isEffort } from '../../effort.ts'
import { Fields } from '../../fields.ts'
import type { ChatRequest, JsonObject, OutputFormat, Reasoning, Sampling, Unsupported } from '../../middle.ts'
import { decodeInput } from './decode-input.ts'
import { decodeTools } from './decode-tools.ts'
import { requiredText } from './decode-content.ts'

export function decodeRequest(raw: JsonObject): ChatRequest | Unsupported {
  const body = new Fields(raw)
  const instructions = body.text('instructions')
  const { system, messages } = decodeInput(body)
  const { tools, toolChoice, rest } = decodeTools(body)
  const text = body.fields('text')
  // It stays in the rest, as it is more than the user's name to the provider.
  const safetyIdentifier = typeof raw.safety_identifier === 'string' ? raw.safety_identifier : null
  const request: ChatRequest = {
    format: 'responses',
    model: body.text('model') ?? '',
    system: instructions === undefined ? system : [{ type: 'text', text: instructions }, ...system],
    messages,
    tools,
    toolChoice,
    parallelTools: body.boolean('parallel_tool_calls') ?? null,
    sampling: decodeSampling(body),
    reasoning: decodeReasoning(body),
    output: decodeOutput(text?.fields('format')),
    stream: body.boolean('stream') ?? false,
    user: body.text('user') ?? safetyIdentifier,
    rest,
  }
  const textRest = text?.rest()
  request.rest = { ...body.rest(), ...rest, ...(textRest !== undefined && { text: textRest }) }
  return body.fault ?? request
}

function decodeSampling(body: Fields): Sampling {
  const maxTokens = body.number('max_output_tokens')
  const temperature = body.number('temperature')
  const topP = body.number('top_p')
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
  }
}

function decodeReasoning(body: Fields): Reasoning | null {
  const fields = body.fields('reasoning')
  if (fields === undefined) return null
  const effort = fields.text('effort')
  const summary = fields.text('summary') ?? fields.text('generate_summary')
  return {
    ...(effort !== undefined && isEffort(effort) && { effort }),
    ...(summary !== undefined && { include: true }),
    rest: fields.raw,
  }
}

function decodeOutput(format: Fields | undefined): OutputFormat {
  if (format === undefined) return { kind: 'text' }
  switch (requiredText(format, 'type')) {
    case 'json_object':
      return { kind: 'json' }
    case 'json_schema':
      return decodeSchema(format)
    case 'text':
      return { kind: 'text' }
    default:
      format.fail('type', 'text, json_object or json_schema')
      return { kind: 'text' }
  }
}

function decodeSchema(format: Fields): OutputFormat {
  const strict = format.boolean('strict')
  const description = format.text('description')
  return {
    kind: 'schema',
    name: requiredText(format, 'name'),
    schema: format.object('schema') ?? format.fail('schema', 'an object') ?? {},
    ...(strict !== undefined && { strict }),
    ...(description !== undefined && { description }),
  }
}
