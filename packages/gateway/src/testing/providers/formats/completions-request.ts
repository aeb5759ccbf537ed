import { z } from 'zod'
import { invalid } from '../answer.ts'
import { type ParsedRequest, type ParsedPart, mergeTurns, type Turn } from '../parsed-request.ts'
import { check, type Complaints, dotted } from '../check.ts'

/** Reads chat completions as strictly as OpenAI does: what it does not know is a 400 that names it. */
export function readCompletions(body: unknown): ParsedRequest & { includeUsage: boolean } {
  const request = check(requestSchema, body, openaiComplaints)
  if (request.stream_options != null && request.stream !== true) {
    throw invalid(`The 'stream_options' parameter is only allowed when 'stream' is enabled.`, 'stream_options')
  }
  if (request.max_tokens != null && /^(o\d|gpt-5)/.test(request.model)) {
    throw invalid(
      `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`,
      'max_tokens',
    )
  }
  const system: string[] = []
  const turns: Turn[] = []
  const open = new Set<string>()
  for (const [at, message] of request.messages.entries()) {
    if (message.role !== 'tool' && open.size > 0) {
      throw invalid(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
        `messages[${at}].role`,
      )
    }
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(joinTexts(message.content))
        break
      case 'user':
        turns.push({ role: 'user', parts: userParts(message.content) })
        break
      case 'assistant':
        turns.push({ role: 'assistant', parts: assistantParts(message) })
        for (const call of message.tool_calls ?? []) open.add(call.id)
        break
      case 'tool':
        if (!open.delete(message.tool_call_id)) {
          throw invalid(
            `Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`,
            `messages[${at}].role`,
          )
        }
        turns.push({ role: 'user', parts: [resultPart(message.tool_call_id, joinTexts(message.content))] })
        break
    }
  }
  const stop = request.stop ?? []
  return {
    model: request.model,
    streamed: request.stream === true,
    includeUsage: request.stream_options?.include_usage === true,
    system: system.join('\n'),
    turns: mergeTurns(turns),
    tools: (request.tools ?? []).map(({ function: tool }) => ({
      name: tool.name,
      description: tool.description ?? null,
      schema: tool.parameters ?? {},
    })),
    toolChoice: choiceOf(request.tool_choice),
    parallelTools: request.parallel_tool_calls ?? null,
    settings: {
      maxTokens: request.max_completion_tokens ?? request.max_tokens ?? null,
      temperature: request.temperature ?? null,
      topP: request.top_p ?? null,
      topK: null,
      stop: Array.isArray(stop) ? stop : [stop],
    },
    reasoning:
      request.reasoning_effort == null || request.reasoning_effort === 'none'
        ? null
        : { effort: request.reasoning_effort, isShown: false },
    schema: request.response_format?.type === 'json_schema' ? request.response_format.json_schema.schema : null,
  }
}

export const openaiComplaints: Complaints = {
  unknown: (path, name) => `Unknown parameter: '${dotted([...path, name])}'.`,
  wrong: (path, message) => `Invalid value for '${dotted(path)}': ${message}.`,
}

export function imageOf(url: string): ParsedPart {
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  return inline === null
    ? { type: 'imageUrl', url }
    : { type: 'image', mediaType: inline[1] ?? '', data: inline[2] ?? '' }
}

export function resultPart(id: string, text: string): ParsedPart {
  return { type: 'result', id, name: null, text, isError: false }
}

/** Models get the arguments that they wrote; clients must not damage them. */
export function parsedArguments(text: string, param: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(`Invalid value for '${param}': it is no JSON.`, param)
  }
}

function joinTexts(content: string | { text: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text).join('')
}

function userParts(content: z.infer<typeof userSchema>['content']): ParsedPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : imageOf(part.image_url.url)))
}

function assistantParts(message: z.infer<typeof assistantSchema>): ParsedPart[] {
  const { content, tool_calls: calls = [] } = message
  const text = typeof content === 'string' ? content : joinTexts((content ?? []).filter((part) => part.type === 'text'))
  return [
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, function: call }) => ({
      type: 'call' as const,
      id,
      name: call.name,
      arguments: parsedArguments(call.arguments, 'messages[].tool_calls[].function.arguments'),
    })),
  ]
}

function choiceOf(choice: z.infer<typeof choiceSchema> | undefined): ParsedRequest['toolChoice'] {
  return choice === undefined || typeof choice === 'string' ? (choice ?? null) : { name: choice.function.name }
}

const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)
const textPart = z.strictObject({ type: z.literal('text'), text: z.string() })

const refusalPart = z.strictObject({ type: z.literal('refusal'), refusal: z.string() })

const systemSchema = z.strictObject({
  role: z.enum(['system', 'developer']),
  content: z.union([z.string(), z.array(textPart).min(1)]),
  name: z.string().optional(),
})

const userSchema = z.strictObject({
  role: z.literal('user'),
  name: z.string().optional(),
  content: z.union([
    z.string(),
    z
      .array(
        z.discriminatedUnion('type', [
          textPart,
          z.strictObject({
            type: z.literal('image_url'),
            image_url: z.strictObject({ url: z.string(), detail: z.enum(['auto', 'low', 'high']).optional() }),
          }),
        ]),
      )
      .min(1),
  ]),
})

const assistantSchema = z.strictObject({
  role: z.literal('assistant'),
  name: z.string().optional(),
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, refusalPart])).min(1)]).nullish(),
  refusal: z.string().nullish(),
  annotations: z.array(z.unknown()).optional(),
  audio: z.null().optional(),
  tool_calls: z
    .array(
      z.strictObject({
        // The real one refuses long ids too.
        id: z.string().min(1).max(64),
        type: z.literal('function'),
        function: z.strictObject({ name: toolName, arguments: z.string() }),
      }),
    )
    .min(1)
    .optional(),
})

const toolMessageSchema = z.strictObject({
  role: z.literal('tool'),
  tool_call_id: z.string().min(1).max(64),
  content: z.union([z.string(), z.array(textPart).min(1)]),
})

const choiceSchema = z.union([
  z.enum(['auto', 'none', 'required']),
  z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: toolName }) }),
])

const requestSchema = z.strictObject({
  model: z.string().min(1),
  messages: z
    .array(z.discriminatedUnion('role', [systemSchema, userSchema, assistantSchema, toolMessageSchema]))
    .min(1),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  modalities: z.array(z.enum(['text', 'audio'])).nullish(),
  n: z.int().min(1).nullish(),
  parallel_tool_calls: z.boolean().optional(),
  prediction: z.unknown().optional(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  prompt_cache_key: z.string().nullish(),
  reasoning_effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']).nullish(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/),
          description: z.string().optional(),
          schema: z.record(z.string(), z.unknown()),
          strict: z.boolean().nullish(),
        }),
      }),
    ])
    .optional(),
  safety_identifier: z.string().nullish(),
  seed: z.int().nullish(),
  service_tier: z.string().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  store: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  tool_choice: choiceSchema.optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal('function'),
        function: z.strictObject({
          name: toolName,
          description: z.string().optional(),
          parameters: z.record(z.string(), z.unknown()).optional(),
          strict: z.boolean().nullish(),
        }),
      }),
    )
    .min(1)
    .optional(),
  top_logprobs: z.int().nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  user: z.string().optional(),
  verbosity: z.enum(['low', 'medium', 'high']).nullish(),
})
