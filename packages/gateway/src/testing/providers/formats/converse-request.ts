import { z } from 'zod'
import { invalid } from '../answer.ts'
import type { ParsedRequest, ParsedPart, Turn } from '../parsed-request.ts'
import { check, type Complaints, dotted } from '../check.ts'
import { isSignedBy } from '../signatures.ts'

/** Reads Bedrock's Converse. It is stricter than AWS about unknown fields, which AWS leaves unread. */
export function readConverse(body: unknown, model: string, streamed: boolean): ParsedRequest {
  const request = check(requestSchema, body, bedrockComplaints)
  const turns = (request.messages ?? []).map(({ role, content }): Turn => ({ role, parts: content.flatMap(partsOf) }))
  expectTurns(turns, request.toolConfig !== undefined)
  const config = request.inferenceConfig ?? {}
  const extra = request.additionalModelRequestFields ?? {}
  const thinking = extra.thinking
  if (thinking?.type === 'enabled' && config.temperature !== undefined && config.temperature !== 1) {
    throw invalid(
      'The model returned the following errors: `temperature` may only be set to 1 when thinking is enabled.',
    )
  }
  if (thinking?.type === 'enabled' && thinking.budget_tokens >= (config.maxTokens ?? DEFAULT_MAX_TOKENS)) {
    throw invalid(
      'The model returned the following errors: `max_tokens` must be greater than `thinking.budget_tokens`.',
    )
  }
  const isThinking = thinking !== undefined && thinking.type !== 'disabled'
  if (thinking?.type === 'enabled') expectThinkingFirst(turns)
  const choice = request.toolConfig?.toolChoice
  const format = request.outputConfig?.textFormat
  if (format !== undefined && /(?:amazon|meta|cohere|ai21)\.|claude-3/.test(model)) {
    throw invalid("This model doesn't support the outputConfig.textFormat field.")
  }
  return {
    model,
    streamed,
    system: (request.system ?? []).map((block) => ('text' in block ? block.text : '')).join(''),
    turns,
    tools: (request.toolConfig?.tools ?? []).flatMap((tool) =>
      'toolSpec' in tool
        ? [
            {
              name: tool.toolSpec.name,
              description: tool.toolSpec.description ?? null,
              schema: tool.toolSpec.inputSchema.json,
            },
          ]
        : [],
    ),
    toolChoice:
      choice === undefined
        ? null
        : 'auto' in choice
          ? 'auto'
          : 'any' in choice
            ? 'required'
            : { name: choice.tool.name },
    parallelTools: null,
    settings: {
      maxTokens: config.maxTokens ?? null,
      temperature: config.temperature ?? null,
      topP: config.topP ?? null,
      topK: extra.top_k ?? null,
      stop: config.stopSequences ?? [],
    },
    reasoning: isThinking
      ? { isShown: true, ...(thinking.type === 'enabled' && { budget: thinking.budget_tokens }) }
      : null,
    schema: format === undefined ? null : schemaOf(format.structure.jsonSchema.schema),
  }
}

export const bedrockComplaints: Complaints = {
  unknown: (path, name) => `Malformed input request: extraneous key [${dotted([...path, name])}] is not permitted`,
  wrong: (path, message) =>
    `1 validation error detected: Value at '${dotted(path)}' failed to satisfy constraint: ${message}`,
}

function expectTurns(turns: readonly Turn[], hasTools: boolean): void {
  if (turns[0]?.role !== 'user') throw invalid('A conversation must start with a user message.')
  for (const [at, turn] of turns.entries()) {
    if (turn.role === turns[at - 1]?.role) {
      throw invalid('A conversation must alternate between user and assistant roles. Make sure it does.')
    }
    const called = idsOf(turns[at - 1], 'call')
    const answered = idsOf(turn, 'result')
    if (called.length > 0 && called.some((id) => !answered.includes(id))) {
      throw invalid(`Expected toolResult blocks at messages.${at}.content for the following Ids: ${called.join(', ')}`)
    }
    if (answered.some((id) => !called.includes(id))) {
      throw invalid(
        `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`,
      )
    }
    if (!hasTools && called.length + answered.length > 0) {
      throw invalid('The toolConfig field must be defined when using toolUse and toolResult content blocks.')
    }
  }
}

function expectThinkingFirst(turns: readonly Turn[]): void {
  const isCalling = turns.at(-1)?.parts.some((part) => part.type === 'result') ?? false
  if (!isCalling || turns.at(-2)?.parts[0]?.type === 'reasoning') return
  throw invalid(
    'The model returned the following errors: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
  )
}

function idsOf(turn: Turn | undefined, type: 'call' | 'result'): string[] {
  return (turn?.parts ?? []).flatMap((part) =>
    part.type === type && 'id' in part && part.id !== null ? [part.id] : [],
  )
}

function partsOf(block: z.infer<typeof blockSchema>): ParsedPart[] {
  if ('text' in block) return [{ type: 'text', text: block.text }]
  if ('image' in block) {
    return [{ type: 'image', mediaType: `image/${block.image.format}`, data: block.image.source.bytes }]
  }
  if ('toolUse' in block) {
    const { toolUseId, name, input } = block.toolUse
    return [{ type: 'call', id: toolUseId, name, arguments: input }]
  }
  if ('toolResult' in block) {
    const { toolUseId, content, status } = block.toolResult
    const text = content.map((part) => ('text' in part ? part.text : JSON.stringify(part.json))).join('')
    return [{ type: 'result', id: toolUseId, name: null, text, isError: status === 'error' }]
  }
  if ('reasoningContent' in block) {
    const { text, signature } = block.reasoningContent.reasoningText
    if (signature === undefined || !isSignedBy('anthropic', text, signature)) {
      throw invalid('The model returned the following errors: Invalid `signature` in `thinking` block')
    }
    return [{ type: 'reasoning', text, isSigned: true }]
  }
  return []
}

function schemaOf(text: string): object {
  const schema: unknown = JSON.parse(text)
  if (typeof schema !== 'object' || schema === null) throw invalid('The schema is no object')
  return schema
}

const DEFAULT_MAX_TOKENS = 4096

const id = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+')
const cachePoint = z.strictObject({
  cachePoint: z.strictObject({ type: z.literal('default'), ttl: z.enum(['5m', '1h']).optional() }),
})
const textBlock = z.strictObject({ text: z.string().regex(/\S/, 'The text field is blank') })
const anyJson = z.record(z.string(), z.unknown())

const blockSchema = z.union([
  textBlock,
  z.strictObject({
    image: z.strictObject({
      format: z.enum(['png', 'jpeg', 'gif', 'webp']),
      source: z.strictObject({ bytes: z.base64() }),
    }),
  }),
  z.strictObject({ toolUse: z.strictObject({ toolUseId: id, name: id, input: anyJson }) }),
  z.strictObject({
    toolResult: z.strictObject({
      toolUseId: id,
      content: z.array(z.union([textBlock, z.strictObject({ json: anyJson })])),
      status: z.enum(['success', 'error']).optional(),
    }),
  }),
  z.strictObject({
    reasoningContent: z.strictObject({
      reasoningText: z.strictObject({ text: z.string(), signature: z.string().optional() }),
    }),
  }),
  cachePoint,
])

const requestSchema = z.strictObject({
  messages: z
    .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.array(blockSchema).min(1) }))
    .min(1),
  system: z.array(z.union([textBlock, cachePoint])).optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.int().min(1).optional(),
      temperature: z.number().min(0).max(1).optional(),
      topP: z.number().min(0).max(1).optional(),
      stopSequences: z.array(z.string().min(1)).optional(),
    })
    .optional(),
  toolConfig: z
    .strictObject({
      tools: z
        .array(
          z.union([
            z.strictObject({
              toolSpec: z.strictObject({
                name: id,
                description: z.string().min(1).optional(),
                inputSchema: z.strictObject({ json: z.looseObject({ type: z.literal('object') }) }),
                strict: z.boolean().optional(),
              }),
            }),
            cachePoint,
          ]),
        )
        .min(1),
      toolChoice: z
        .union([
          z.strictObject({ auto: z.strictObject({}) }),
          z.strictObject({ any: z.strictObject({}) }),
          z.strictObject({ tool: z.strictObject({ name: id }) }),
        ])
        .optional(),
    })
    .optional(),
  // Fields that only Claude accepts.
  additionalModelRequestFields: z
    .strictObject({
      thinking: z
        .discriminatedUnion('type', [
          z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024) }),
          z.strictObject({ type: z.literal('adaptive'), display: z.string().optional() }),
          z.strictObject({ type: z.literal('disabled') }),
        ])
        .optional(),
      top_k: z.int().optional(),
      anthropic_beta: z.array(z.string()).optional(),
      output_config: z.strictObject({ effort: z.string().optional() }).optional(),
      metadata: anyJson.optional(),
      tool_choice: anyJson.optional(),
    })
    .optional(),
  additionalModelResponseFieldPaths: z.array(z.string()).optional(),
  guardrailConfig: z
    .strictObject({
      guardrailIdentifier: z.string(),
      guardrailVersion: z.string(),
      trace: z.enum(['enabled', 'disabled', 'enabled_full']).optional(),
      streamProcessingMode: z.string().optional(),
    })
    .optional(),
  requestMetadata: z.record(z.string(), z.string()).optional(),
  outputConfig: z
    .strictObject({
      textFormat: z
        .strictObject({
          type: z.literal('json_schema'),
          structure: z.strictObject({
            jsonSchema: z.strictObject({
              schema: z.string(),
              name: z.string().optional(),
              description: z.string().optional(),
            }),
          }),
        })
        .optional(),
      effort: z.string().optional(),
    })
    .optional(),
})
