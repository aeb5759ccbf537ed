import { z } from 'zod'
import { invalid } from '../answer.ts'
import { type ParsedRequest, type ParsedPart, mergeTurns, type Turn } from '../parsed-request.ts'
import { check } from '../check.ts'
import { isSignedBy } from '../signatures.ts'
import { imageOf, openaiComplaints, parsedArguments, resultPart } from './completions-request.ts'

export type InputItem = z.infer<typeof itemSchema>
export type ParsedResponsesRequest = ParsedRequest & { items: InputItem[]; stores: boolean; summary: boolean }

/** The earlier responses that OpenAI stores, by their ids. */
export interface ResponseStore {
  items: Map<string, InputItem>
  conversations: Map<string, InputItem[]>
}

export function readResponses(body: unknown, store: ResponseStore): ParsedResponsesRequest {
  const request = check(requestSchema, body, openaiComplaints)
  const given: InputItem[] =
    typeof request.input === 'string' ? [{ type: 'message', role: 'user', content: request.input }] : request.input
  const items = [...earlier(request.previous_response_id, store), ...given.map((item) => stored(item, store))]
  const system = request.instructions == null ? [] : [request.instructions]
  const turns: Turn[] = []
  const open = new Set<string>()
  for (const item of items) {
    if (item.type === 'function_call') open.add(item.call_id)
    if (item.type === 'function_call_output' && !open.delete(item.call_id)) {
      throw invalid(`No tool call found for function call output with call_id ${item.call_id}.`, 'input')
    }
    if (isInstruction(item)) system.push(joinTexts(item.content))
    else turns.push(turnOf(item))
  }
  const [unanswered] = open
  if (unanswered !== undefined) throw invalid(`No tool output found for function call ${unanswered}.`, 'input')
  const { format } = request.text ?? {}
  const effort = request.reasoning?.effort
  return {
    model: request.model,
    streamed: request.stream === true,
    items,
    stores: request.store !== false,
    summary: request.reasoning?.summary != null,
    system: system.join('\n'),
    turns: mergeTurns(turns),
    tools: (request.tools ?? []).map((tool) => ({
      name: tool.name,
      description: tool.description ?? null,
      schema: tool.parameters ?? {},
    })),
    toolChoice:
      request.tool_choice === undefined || typeof request.tool_choice === 'string'
        ? (request.tool_choice ?? null)
        : { name: request.tool_choice.name },
    parallelTools: request.parallel_tool_calls ?? null,
    settings: {
      maxTokens: request.max_output_tokens ?? null,
      temperature: request.temperature ?? null,
      topP: request.top_p ?? null,
      topK: null,
      stop: [],
    },
    reasoning: effort == null || effort === 'none' ? null : { effort, isShown: request.reasoning?.summary != null },
    schema: format?.type === 'json_schema' ? format.schema : null,
  }
}

function earlier(id: string | null | undefined, store: ResponseStore): InputItem[] {
  if (id == null) return []
  const items = store.conversations.get(id)
  if (items === undefined) throw invalid(`Previous response with id '${id}' not found.`, 'previous_response_id')
  return items
}

function stored(item: InputItem, store: ResponseStore): InputItem {
  if (item.type !== 'item_reference') return item
  const found = store.items.get(item.id)
  if (found === undefined) throw invalid(`Item with id '${item.id}' not found.`, 'input')
  return found
}

type MessageItem = Extract<InputItem, { role: string }>

function isInstruction(item: InputItem): item is MessageItem {
  return 'role' in item && (item.role === 'system' || item.role === 'developer')
}

function turnOf(item: InputItem): Turn {
  switch (item.type) {
    case 'function_call': {
      const call = parsedArguments(item.arguments, 'input[].arguments')
      return { role: 'assistant', parts: [{ type: 'call', id: item.call_id, name: item.name, arguments: call }] }
    }
    case 'function_call_output':
      return { role: 'user', parts: [resultPart(item.call_id, outputText(item.output))] }
    case 'reasoning':
      return { role: 'assistant', parts: [reasoningPart(item)] }
    case 'item_reference':
      throw invalid(`Item with id '${item.id}' not found.`, 'input')
    case 'message':
    case undefined:
      return { role: item.role === 'assistant' ? 'assistant' : 'user', parts: contentParts(item.content) }
  }
}

function reasoningPart(item: Extract<InputItem, { type: 'reasoning' }>): ParsedPart {
  const text = item.summary.map((section) => section.text).join('')
  const sealed = item.encrypted_content ?? null
  // With another id it is refused everywhere, without one by the projects of Azure.
  if (sealed !== null && !isSignedBy('openai', item.id ?? '', sealed)) {
    throw invalid('The encrypted content could not be verified.', 'input')
  }
  return { type: 'reasoning', text, isSigned: sealed !== null }
}

function contentParts(content: MessageItem['content']): ParsedPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.flatMap((part): ParsedPart[] => {
    if (part.type === 'refusal') return []
    return [part.type === 'input_image' ? imageOf(part.image_url) : { type: 'text', text: part.text }]
  })
}

function joinTexts(content: MessageItem['content']): string {
  return contentParts(content)
    .map((part) => (part.type === 'text' ? part.text : ''))
    .join('')
}

function outputText(output: string | { text: string }[]): string {
  return typeof output === 'string' ? output : output.map((part) => part.text).join('')
}

const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)
const status = z.enum(['in_progress', 'completed', 'incomplete']).nullish()
const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() })

const contentSchema = z.discriminatedUnion('type', [
  inputText,
  z.strictObject({
    type: z.literal('output_text'),
    text: z.string(),
    annotations: z.array(z.unknown()).optional(),
    logprobs: z.array(z.unknown()).optional(),
  }),
  z.strictObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.strictObject({
    type: z.literal('input_image'),
    image_url: z.string(),
    detail: z.enum(['auto', 'low', 'high', 'original']).nullish(),
  }),
])

const itemSchema = z.union([
  z.strictObject({
    type: z.literal('message').optional(),
    id: z.string().startsWith('msg_').optional(),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.union([z.string(), z.array(contentSchema)]),
    status,
    phase: z.string().nullish(),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    id: z.string().startsWith('fc_').optional(),
    call_id: z.string().min(1).max(64),
    name: toolName,
    arguments: z.string(),
    status,
    namespace: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('function_call_output'),
    id: z.string().nullish(),
    call_id: z.string().min(1).max(64),
    output: z.union([z.string(), z.array(inputText)]),
    status,
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string().startsWith('rs_').optional(),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    content: z.array(z.unknown()).optional(),
    encrypted_content: z.string().nullish(),
    status,
  }),
  z.strictObject({ type: z.literal('item_reference'), id: z.string() }),
])

const requestSchema = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(itemSchema).min(1)]),
  background: z.literal(false).nullish(),
  include: z.array(z.string()).nullish(),
  instructions: z.string().nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  max_tool_calls: z.int().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  prompt_cache_retention: z.string().nullish(),
  reasoning: z
    .strictObject({
      effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    })
    .nullish(),
  safety_identifier: z.string().nullish(),
  service_tier: z.string().nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  text: z
    .strictObject({
      format: z
        .discriminatedUnion('type', [
          z.strictObject({ type: z.literal('text') }),
          z.strictObject({ type: z.literal('json_object') }),
          z.strictObject({
            type: z.literal('json_schema'),
            name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
            description: z.string().optional(),
            schema: z.record(z.string(), z.unknown()),
            strict: z.boolean().nullish(),
          }),
        ])
        .optional(),
      verbosity: z.enum(['low', 'medium', 'high']).nullish(),
    })
    .optional(),
  tool_choice: z
    .union([z.enum(['auto', 'none', 'required']), z.strictObject({ type: z.literal('function'), name: toolName })])
    .optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        name: toolName,
        description: z.string().nullish(),
        parameters: z.record(z.string(), z.unknown()).nullable(),
        strict: z.boolean().nullish(),
      }),
    )
    .optional(),
  top_logprobs: z.int().nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  user: z.string().optional(),
})
