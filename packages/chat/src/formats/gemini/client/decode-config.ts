import { put } from '@portico/http/json'
import type { ChatRequest, JsonObject, OutputFormat, Reasoning, Sampling } from '../../../middle.ts'
import type { Fields } from '../../../request/fields.ts'
import { isEffort } from '../../../request/effort.ts'
import { toJsonSchema } from './json-schema.ts'
import { objectIn } from './spelling.ts'

interface DecodedConfig extends Pick<ChatRequest, 'sampling' | 'reasoning' | 'output'> {
  /** Members that the middle does not know, by their path. */
  rest: JsonObject
}

export function decodeConfig(fields: Fields): DecodedConfig {
  const config = objectIn(fields, 'generationConfig')
  if (config === undefined) return { sampling: {}, reasoning: null, output: { kind: 'text' }, rest: {} }
  const sampling = decodeSampling(config)
  const thinking = objectIn(config, 'thinkingConfig')
  const reasoning = thinking === undefined ? null : decodeThinking(thinking)
  const rest: JsonObject = {}
  const output = decodeOutput(config, rest)
  for (const [name, value] of Object.entries(config.rest() ?? {})) rest[`generationConfig.${name}`] = value
  for (const [name, value] of Object.entries(thinking?.rest() ?? {}))
    rest[`generationConfig.thinkingConfig.${name}`] = value
  return { sampling, reasoning, output, rest }
}

function decodeSampling(config: Fields): Sampling {
  const sampling: Sampling = {}
  put(sampling, 'maxTokens', config.number('maxOutputTokens'))
  put(sampling, 'temperature', config.number('temperature'))
  put(sampling, 'topP', config.number('topP'))
  put(sampling, 'topK', config.number('topK'))
  put(sampling, 'frequencyPenalty', config.number('frequencyPenalty'))
  put(sampling, 'presencePenalty', config.number('presencePenalty'))
  put(sampling, 'seed', config.number('seed'))
  put(sampling, 'stop', config.texts('stopSequences'))
  return sampling
}

/** A budget of 0 turns thinking off; one of -1 leaves it to the model. */
function decodeThinking(thinking: Fields): Reasoning {
  const reasoning: Reasoning = {}
  const include = thinking.boolean('includeThoughts')
  const budget = thinking.number('thinkingBudget')
  const level = thinking.text('thinkingLevel')?.toLowerCase()
  if (include !== undefined) reasoning.include = include
  if (level !== undefined && isEffort(level)) reasoning.effort = level
  else if (budget === 0) reasoning.effort = 'none'
  else if (budget !== undefined && budget > 0) reasoning.budget = budget
  return reasoning
}

function decodeOutput(config: Fields, rest: JsonObject): OutputFormat {
  const type = config.text('responseMimeType')
  const openApi = config.object('responseSchema')
  const schema = config.object('responseJsonSchema') ?? (openApi === undefined ? undefined : toJsonSchema(openApi))
  if (type !== undefined && type !== 'application/json' && type !== 'text/plain') {
    rest['generationConfig.responseMimeType'] = type
  }
  if (schema !== undefined) return { kind: 'schema', name: 'structured_output', schema }
  return type === 'application/json' ? { kind: 'json' } : { kind: 'text' }
}
