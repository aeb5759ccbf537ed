import { z } from 'zod'
import { invalid } from '../answer.ts'
import { type ParsedRequest, type ParsedPart, mergeTurns, type Turn } from '../parsed-request.ts'
import { check, type Complaints } from '../check.ts'
import { isSignedBy } from '../signatures.ts'

/** Reads Anthropic's messages, with the rules that its API holds requests against. */
export function readMessages(body: unknown, version: string): ParsedRequest {
  const request = check(requestSchema, body, anthropicComplaints)
  const removed = SAMPLING.find((name) => request[name] !== undefined)
  if (version !== '2023-06-01' && removed !== undefined) throw invalid(`${removed}: Extra inputs are not permitted`)
  return askedOf(request, request.model, UNSTRUCTURED)
}

/** On Vertex AI the path says the model, and the body says the version. */
export function readVertexMessages(body: unknown, model: string): ParsedRequest {
  const asked = askedOf(check(vertexSchema, body, anthropicComplaints), model, UNSTRUCTURED_ON_VERTEX)
  const hasUrl = asked.turns.some(({ parts }) => parts.some(({ type }) => type === 'imageUrl'))
  if (hasUrl) throw invalid('messages.0.content.0.image.source.base64.data: URL sources are not supported')
  return asked
}

/** So it is on Bedrock, where the path says as well whether the answer is a stream. */
export function readInvokedMessages(body: unknown, model: string, streamed: boolean): ParsedRequest {
  return { ...askedOf(check(bedrockSchema, body, anthropicComplaints), model, UNSTRUCTURED), streamed }
}

/** Models that came before structured output did. */
const UNSTRUCTURED = /claude-(?:3|opus-4-[01]|(?:sonnet|opus)-4(?:-2|$))/
const UNSTRUCTURED_ON_VERTEX = /claude-(?:3|opus-4-[015]|haiku-4-5|sonnet-4-5|(?:sonnet|opus)-4(?:[-@]2|$))/

function askedOf(request: z.infer<typeof fieldsSchema>, model: string, unstructured: RegExp): ParsedRequest {
  if (request.output_config?.format != null && unstructured.test(model)) {
    throw invalid(`output_config.format: '${model}' does not support structured outputs`)
  }
  const turns = mergeTurns(request.messages.map(turnOf))
  if (turns[0]?.role !== 'user') throw invalid('messages: first message must use the "user" role')
  expectResults(turns)
  const thinking = thinkingOf(request)
  if (request.thinking?.type === 'enabled') expectThinkingFirst(turns)
  const { tool_choice: choice } = request
  return {
    model,
    streamed: request.stream === true,
    system: blocksText(request.system ?? ''),
    turns,
    tools: (request.tools ?? []).map((tool) => ({
      name: tool.name,
      description: tool.description ?? null,
      schema: tool.input_schema,
    })),
    toolChoice:
      choice === undefined
        ? null
        : choice.type === 'tool'
          ? { name: choice.name }
          : choice.type === 'any'
            ? 'required'
            : choice.type,
    parallelTools:
      choice !== undefined && 'disable_parallel_tool_use' in choice && choice.disable_parallel_tool_use !== undefined
        ? !choice.disable_parallel_tool_use
        : null,
    settings: {
      maxTokens: request.max_tokens,
      temperature: request.temperature ?? null,
      topP: request.top_p ?? null,
      topK: request.top_k ?? null,
      stop: request.stop_sequences ?? [],
    },
    reasoning: thinking,
    schema: request.output_config?.format?.schema ?? null,
  }
}

/** The same body without `max_tokens` and sampling. Vertex AI takes the version in it. */
export function readTokenCount(body: unknown, place: 'anthropic' | 'vertexai'): string {
  const request = check(place === 'anthropic' ? countSchema : vertexCountSchema, body, anthropicComplaints)
  return [blocksText(request.system ?? ''), ...request.messages.map((message) => JSON.stringify(turnOf(message)))].join(
    ' ',
  )
}

export const anthropicComplaints: Complaints = {
  unknown: (path, name) => `${[...path, name].map(String).join('.')}: Extra inputs are not permitted`,
  wrong: (path, message) => `${path.map(String).join('.')}: ${message}`,
}

function thinkingOf(request: z.infer<typeof fieldsSchema>): ParsedRequest['reasoning'] {
  const { thinking, max_tokens: maxTokens } = request
  if (thinking === undefined || thinking.type === 'disabled') return null
  if (request.temperature !== undefined && request.temperature !== 1) {
    throw invalid('`temperature` may only be set to 1 when thinking is enabled.')
  }
  if (request.top_k !== undefined) throw invalid('`top_k` must be unset when thinking is enabled.')
  if (request.tool_choice?.type === 'any' || request.tool_choice?.type === 'tool') {
    throw invalid('Thinking may not be enabled when tool_choice forces tool use.')
  }
  if (thinking.type === 'adaptive') {
    return { isShown: true, ...(request.output_config?.effort != null && { effort: request.output_config.effort }) }
  }
  if (thinking.budget_tokens >= maxTokens) throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`.')
  return { budget: thinking.budget_tokens, isShown: true }
}

/** Every call has its result at the front of the next user turn, and no result comes without a call. */
function expectResults(turns: readonly Turn[]): void {
  for (const [at, turn] of turns.entries()) {
    const called = idsOf(turns[at - 1], 'call')
    const answered = idsOf(turn, 'result')
    if (turn.role === 'user') {
      const missing = called.filter((id) => !answered.includes(id))
      if (missing.length > 0) {
        throw invalid(
          `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`,
        )
      }
      const unknown = answered.find((id) => !called.includes(id))
      if (unknown !== undefined) {
        throw invalid(`messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unknown}`)
      }
      const firstOther = turn.parts.findIndex((part) => part.type !== 'result')
      const lastResult = turn.parts.findLastIndex((part) => part.type === 'result')
      if (firstOther !== -1 && firstOther < lastResult)
        throw invalid(`messages.${at}: tool_result blocks must come first`)
    }
  }
}

/** With a budget for thinking, a turn that is still calling tools begins with the thinking that led to the call. */
function expectThinkingFirst(turns: readonly Turn[]): void {
  const last = turns.at(-1)
  const calling = turns.at(-2)
  if (last?.role !== 'user' || !last.parts.some((part) => part.type === 'result')) return
  if (calling?.parts[0]?.type === 'reasoning') return
  throw invalid(
    `messages.${turns.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`tool_use\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`,
  )
}

function idsOf(turn: Turn | undefined, type: 'call' | 'result'): string[] {
  return (turn?.parts ?? []).flatMap((part) =>
    part.type === type && 'id' in part && part.id !== null ? [part.id] : [],
  )
}

function turnOf(message: z.infer<typeof messageSchema>): Turn {
  const { role, content } = message
  if (typeof content === 'string') return { role, parts: [{ type: 'text', text: content }] }
  return { role, parts: content.map(partOf) }
}

function partOf(block: z.infer<typeof blockSchema>): ParsedPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return block.source.type === 'base64'
        ? { type: 'image', mediaType: block.source.media_type, data: block.source.data }
        : { type: 'imageUrl', url: block.source.url }
    case 'tool_use':
      return { type: 'call', id: block.id, name: block.name, arguments: block.input }
    case 'tool_result': {
      const text = blocksText(block.content ?? '')
      return { type: 'result', id: block.tool_use_id, name: null, text, isError: block.is_error === true }
    }
    case 'thinking':
      if (!isSignedBy('anthropic', block.thinking, block.signature)) {
        throw invalid('messages: Invalid `signature` in `thinking` block')
      }
      return { type: 'reasoning', text: block.thinking, isSigned: true }
    case 'redacted_thinking':
      throw invalid('messages: Invalid `data` in `redacted_thinking` block')
  }
}

function blocksText(content: string | { text: string }[]): string {
  return typeof content === 'string' ? content : content.map((block) => block.text).join('')
}

/** Versions after 2023-06-01 no longer have them. */
const SAMPLING = ['temperature', 'top_p', 'top_k'] as const

const cache = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).nullish()
const callId = z.string().regex(/^[a-zA-Z0-9_-]+$/, "String should match pattern '^[a-zA-Z0-9_-]+$'")
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/)

const textBlock = z.strictObject({
  type: z.literal('text'),
  text: z.string().regex(/\S/, 'text content blocks must contain non-whitespace text'),
  cache_control: cache,
  citations: z.null().optional(),
})

const blockSchema = z.discriminatedUnion('type', [
  textBlock,
  z.strictObject({
    type: z.literal('image'),
    source: z.discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('base64'),
        media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
        data: z.base64(),
      }),
      z.strictObject({ type: z.literal('url'), url: z.url() }),
    ]),
    cache_control: cache,
  }),
  z.strictObject({
    type: z.literal('tool_use'),
    id: callId,
    name: toolName,
    input: z.record(z.string(), z.unknown()),
    caller: z.unknown().optional(),
    cache_control: cache,
  }),
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: callId,
    content: z.union([z.string(), z.array(textBlock)]).optional(),
    is_error: z.boolean().optional(),
    cache_control: cache,
  }),
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
])

const messageSchema = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string().min(1), z.array(blockSchema).min(1)]),
})

const conversation = {
  messages: z.array(messageSchema).min(1),
  system: z.union([z.string(), z.array(textBlock)]).optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('enabled'),
        budget_tokens: z.int().min(1024),
        display: z.enum(['summarized', 'omitted']).nullish(),
      }),
      z.strictObject({ type: z.literal('adaptive'), display: z.enum(['summarized', 'omitted']).nullish() }),
      z.strictObject({ type: z.literal('disabled') }),
    ])
    .optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('tool'), name: toolName, disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('custom').nullish(),
        name: toolName,
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal('object') }),
        strict: z.boolean().optional(),
        eager_input_streaming: z.boolean().nullish(),
        cache_control: cache,
      }),
    )
    .optional(),
}

const fields = {
  ...conversation,
  max_tokens: z.int().min(1),
  metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }).nullish(),
    })
    .optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  stop_sequences: z.array(z.string().regex(/\S/)).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  top_p: z.number().min(0).max(1).optional(),
}

const fieldsSchema = z.strictObject(fields)
const requestSchema = z.strictObject({ model: z.string().min(1), ...fields })
const vertexSchema = z.strictObject({ anthropic_version: z.literal('vertex-2023-10-16'), ...fields })
const { stream: _, ...bedrockFields } = fields
const bedrockSchema = z.strictObject({ anthropic_version: z.literal('bedrock-2023-05-31'), ...bedrockFields })
const countSchema = z.strictObject({ model: z.string().min(1), ...conversation })
const vertexCountSchema = countSchema.extend({ anthropic_version: z.literal('vertex-2023-10-16').optional() })
