import { clientField, lose, instructOutput, hoistSystem, carryRest } from '../../request/carry-over.ts'
import type { EncodeTarget } from '../../format.ts'
import { isObject } from '@portico/http/json'
import {
  type ChatRequest,
  type JsonObject,
  type Loss,
  type Sampling,
  type TextPart,
  UnsupportedField,
} from '../../middle.ts'
import { nameTools } from '../../tools/tool-names.ts'
import { closeSchema } from '../messages/encode-request.ts'
import { cachePoint, keptCachePoints, pointsIn, withKeptPoints } from './cache-points.ts'
import type { ConverseEncoder } from './encoder.ts'
import { encodeMessages } from './encode-messages.ts'
import { planThinking, type ThinkingPlan } from './encode-thinking.ts'
import { encodeTools, TOOL_NAMES } from './encode-tools.ts'
import { familyOf } from './model.ts'

/**
 * The body of `converse` and `converse-stream`; the model and whether to stream stand in the path.
 *
 * | Quirk | What changes |
 * |---|---|
 * | `adaptiveThinking` | the model decides how much it thinks, by effort; without it the model's name tells |
 * | `noThinking` | the model cannot think |
 * | `noSampling` | temperature, top_p and top_k are refused |
 * | `temperatureOrTopP` | only one of the two is taken |
 * | `noOutputFormat` | structured output is refused, and asked for in words |
 * | `strictTools` | `strict` on tools is known |
 */
export function encodeRequest(
  request: ChatRequest,
  target: EncodeTarget,
  losses: Loss[],
): JsonObject | UnsupportedField {
  const refused = carryRest(request, 'converse', losses)
  if (refused instanceof UnsupportedField) return refused
  const { format } = request
  const encoder: ConverseEncoder = {
    format,
    target,
    names: nameTools(request, TOOL_NAMES, target.toolNames),
    documents: new Map(),
    losses,
    faults: [],
  }
  const hoisted = hoistSystem(request, losses)
  const messages = encodeMessages(hoisted.messages, encoder)
  const [fault] = encoder.faults
  if (fault !== undefined) return fault
  const system = encodeSystem(request, hoisted.system, encoder)
  const tools = encodeTools(request, encoder)
  const fixed = [tools?.tools ?? [], system]
  const moving = messages.map(({ content }) => content)
  const kept = keptCachePoints(fixed, moving)
  if (kept.size < pointsIn([...fixed, ...moving]).length) {
    lose(losses, { what: 'dropped', path: clientField(format, 'cache'), note: `${kept.size} are supported at most` })
  }
  const plan = planThinking(request, encoder)
  const { inferenceConfig, fields } = encodeSampling(request, plan, encoder)
  const additional = { ...plan.fields, ...fields, ...encodeUser(request, encoder) }
  const body: JsonObject = {
    ...(system.length > 0 && { system: withKeptPoints(system, kept) }),
    messages: messages.map(({ role, content }) => ({ role, content: withKeptPoints(content, kept) })),
    ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
    ...(tools !== null && {
      toolConfig: {
        tools: withKeptPoints(tools.tools, kept),
        ...(tools.choice !== null && { toolChoice: tools.choice }),
      },
    }),
    ...encodeOutput(request, encoder),
    ...(Object.keys(additional).length > 0 && { additionalModelRequestFields: additional }),
    ...encodeWanted(request, target.model),
  }
  return withExtra(body, target.extra ?? {})
}

function encodeSystem(request: ChatRequest, system: readonly TextPart[], encoder: ConverseEncoder): JsonObject[] {
  const spoken = system.filter((part) => part.text.trim() !== '')
  return [
    ...spoken.flatMap(({ text, cache }) => [{ text }, ...cachePoint(cache, encoder)]),
    ...(forcesOutput(request, encoder) ? [] : instructOutput(request, encoder.losses).map(({ text }) => ({ text }))),
  ]
}

/** JSON of any shape cannot be forced here: a schema must list its members. */
function forcesOutput({ output }: ChatRequest, { target }: ConverseEncoder): boolean {
  return output.kind === 'schema' && !target.quirks.has('noOutputFormat')
}

function encodeOutput(request: ChatRequest, encoder: ConverseEncoder): JsonObject {
  const { output, format } = request
  if (output.kind !== 'schema' || !forcesOutput(request, encoder)) return {}
  const { name, description } = output
  const schema = JSON.stringify(closeSchema(output.schema, clientField(format, 'output'), encoder.losses))
  const jsonSchema = { schema, name, ...(description !== undefined && { description }) }
  return { outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } }
}

function encodeUser({ user }: ChatRequest, { format, target, losses }: ConverseEncoder): JsonObject {
  if (user === null) return {}
  if (familyOf(target.model) === 'claude') return { metadata: { user_id: user } }
  lose(losses, { what: 'dropped', path: clientField(format, 'user') })
  return {}
}

/**
 * Asks for the stop sequence, which Claude reports only on request: under one name in whole responses, under another in
 * streams.
 */
function encodeWanted({ sampling, stream }: ChatRequest, model: string): JsonObject {
  if (familyOf(model) !== 'claude' || (sampling.stop ?? []).length === 0) return {}
  return { additionalModelResponseFieldPaths: [stream ? '/delta/stop_sequence' : '/stop_sequence'] }
}

function withExtra(body: JsonObject, extra: JsonObject): JsonObject {
  const merged = { ...body }
  for (const [name, value] of Object.entries(extra)) {
    const own = merged[name]
    merged[name] = isObject(own) && isObject(value) ? { ...own, ...value } : value
  }
  return merged
}

interface EncodedSampling {
  inferenceConfig: JsonObject
  /** For `additionalModelRequestFields`. */
  fields: JsonObject
}

function encodeSampling(request: ChatRequest, plan: ThinkingPlan, encoder: ConverseEncoder): EncodedSampling {
  const { format, target, losses } = encoder
  const sampling = { ...request.sampling }
  const drop = (field: keyof Sampling, note?: string): void => {
    if (sampling[field] === undefined) return
    delete sampling[field]
    lose(losses, { what: 'dropped', path: clientField(format, field), ...(note !== undefined && { note }) })
  }
  for (const field of ['frequencyPenalty', 'presencePenalty', 'seed'] as const) drop(field)
  if (target.quirks.has('noSampling')) for (const field of ['temperature', 'topP', 'topK'] as const) drop(field)
  // The only temperature allowed with thinking is the default.
  if (sampling.temperature === 1 && plan.excludes.includes('temperature')) delete sampling.temperature
  for (const field of plan.excludes) drop(field, 'not supported together with thinking')
  if (target.quirks.has('temperatureOrTopP') && sampling.temperature !== undefined)
    drop('topP', 'not supported together with temperature')
  if (sampling.temperature !== undefined && sampling.temperature > 1) {
    lose(losses, {
      what: 'renamed',
      path: clientField(format, 'temperature'),
      note: 'the maximum of this provider is 1',
    })
    sampling.temperature = 1
  }
  return {
    inferenceConfig: {
      ...encodeLimit(request, plan, encoder),
      ...(sampling.temperature !== undefined && { temperature: sampling.temperature }),
      ...(sampling.topP !== undefined && { topP: sampling.topP }),
      ...(sampling.stop !== undefined && sampling.stop.length > 0 && { stopSequences: sampling.stop }),
    },
    fields: encodeTopK(sampling.topK, target.model),
  }
}

function encodeLimit(
  { sampling }: ChatRequest,
  { excludes, budget }: ThinkingPlan,
  { format, losses }: ConverseEncoder,
): JsonObject {
  if (excludes.includes('maxTokens')) return {}
  if (sampling.maxTokens !== undefined) return { maxTokens: sampling.maxTokens }
  // Leaves room for the response beside the thinking.
  const maxTokens = DEFAULT_MAX_TOKENS + budget
  lose(losses, { what: 'defaulted', path: clientField(format, 'maxTokens'), note: `${maxTokens}` })
  return { maxTokens }
}

const DEFAULT_MAX_TOKENS = 4096

function encodeTopK(topK: number | undefined, model: string): JsonObject {
  if (topK === undefined) return {}
  return familyOf(model) === 'nova' ? { inferenceConfig: { topK } } : { top_k: topK }
}
