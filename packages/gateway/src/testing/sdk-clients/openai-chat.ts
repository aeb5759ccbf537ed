import OpenAI from 'openai'
import { IMAGE_URL, PNG, TOOLS } from '../providers/scenes.ts'
import { type Endpoint, type FollowUp, type SdkReply, promptOf, type Question, type SdkClient } from './client.ts'
import { openaiFailure } from './openai-failure.ts'

type Message = OpenAI.Chat.ChatCompletionMessageParam
type Params = OpenAI.Chat.ChatCompletionCreateParamsNonStreaming

export function openaiChatClient({ url, key }: Endpoint): SdkClient {
  return openaiChatClientOf('openai chat', new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 }))
}

export function openaiChatClientOf(name: string, sdk: OpenAI): SdkClient {
  return { name, ask: (question) => ask(sdk, question, openingOf(question)) }
}

/** Members that servers add to messages and deltas; the library hands them on as they are. */
interface ReasoningMembers {
  reasoning_content?: string
  reasoning_signature?: string
  reasoning_details?: unknown[]
}

async function ask(sdk: OpenAI, question: Question, messages: Message[]): Promise<SdkReply> {
  const params = paramsOf(question, messages)
  const { completion, reasoned } = await openaiFailure(() =>
    question.streamed ? streamed(sdk, params) : buffered(sdk, params),
  )
  const [choice] = completion.choices
  if (choice === undefined) throw new Error('no choice')
  const { message } = choice
  const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
  const { usage } = completion
  const { parsed: _parsed, ...plain } = { parsed: null, ...message }
  return {
    text: message.content ?? '',
    refusal: message.refusal ?? '',
    reasoning: reasoned.reasoning_content ?? '',
    calls: calls.map((call) => ({
      id: call.id,
      name: call.function.name,
      arguments: JSON.parse(call.function.arguments),
    })),
    finish: choice.finish_reason,
    usage: {
      input: usage?.prompt_tokens ?? null,
      output: usage?.completion_tokens ?? null,
      cacheRead: usage?.prompt_tokens_details?.cached_tokens ?? null,
      cacheWrite: usage?.prompt_tokens_details?.cache_write_tokens ?? null,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? null,
    },
    follow: (next) => ask(sdk, question, [...messages, { ...plain, ...reasoned }, ...followed(next, calls)]),
  }
}

async function buffered(sdk: OpenAI, params: Params) {
  const completion = await sdk.chat.completions.create(params)
  return { completion, reasoned: (completion.choices[0]?.message ?? {}) as ReasoningMembers }
}

/** The library puts texts and calls together; what others added to the format is left to the caller. */
async function streamed(sdk: OpenAI, params: Params) {
  const stream = sdk.chat.completions.stream({ ...params, stream: true, stream_options: { include_usage: true } })
  const reasoned: ReasoningMembers = {}
  for await (const chunk of stream) {
    const delta = (chunk.choices[0]?.delta ?? {}) as ReasoningMembers
    if (delta.reasoning_content != null) {
      reasoned.reasoning_content = (reasoned.reasoning_content ?? '') + delta.reasoning_content
    }
    if (delta.reasoning_signature != null) reasoned.reasoning_signature = delta.reasoning_signature
    if (delta.reasoning_details != null) {
      reasoned.reasoning_details = [...(reasoned.reasoning_details ?? []), ...delta.reasoning_details]
    }
  }
  return { completion: await stream.finalChatCompletion(), reasoned }
}

function openingOf(question: Question): Message[] {
  const text = { type: 'text' as const, text: promptOf(question) }
  const url = question.image === 'url' ? IMAGE_URL : `data:image/png;base64,${PNG}`
  return [
    ...(question.system === undefined ? [] : [{ role: 'system' as const, content: question.system }]),
    {
      role: 'user',
      content: question.image === undefined ? text.text : [text, { type: 'image_url', image_url: { url } }],
    },
  ]
}

function followed(next: FollowUp, calls: { id: string }[]): Message[] {
  if ('text' in next) return [{ role: 'user', content: next.text }]
  return next.results.map((content, at) => ({ role: 'tool', tool_call_id: calls[at]?.id ?? '', content }))
}

function paramsOf(question: Question, messages: Message[]): Params {
  const { force, schema } = question
  return {
    model: question.model,
    messages,
    ...(question.maxTokens !== undefined && { max_completion_tokens: question.maxTokens }),
    ...(question.temperature !== undefined && { temperature: question.temperature }),
    ...(question.topP !== undefined && { top_p: question.topP }),
    ...(question.stop !== undefined && { stop: question.stop }),
    ...(question.reasons && { reasoning_effort: 'low' }),
    ...(question.tools !== undefined && {
      tools: question.tools.map((name) => ({
        type: 'function',
        function: { name, description: TOOLS[name].description, parameters: TOOLS[name].schema },
      })),
    }),
    ...(force !== undefined && { tool_choice: { type: 'function', function: { name: force } } }),
    ...(schema !== undefined && {
      response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: { ...schema } } },
    }),
  }
}
