import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { IMAGE_URL, PNG, TOOLS } from '../providers/scenes.ts'
import {
  type Endpoint,
  type FollowUp,
  type SdkReply,
  promptOf,
  type Question,
  type SdkClient,
  SdkFailure,
} from './client.ts'

type Params = Anthropic.MessageCreateParamsNonStreaming

export function anthropicClient({ url, key }: Endpoint): SdkClient {
  const sdk = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 })
  return { name: 'anthropic', ask: (question) => ask(sdk, question, [openingOf(question)]) }
}

async function ask(sdk: Anthropic, question: Question, messages: Anthropic.MessageParam[]): Promise<SdkReply> {
  const params = paramsOf(question, messages)
  const message = await anthropicFailure(() =>
    question.streamed ? sdk.messages.stream(params).finalMessage() : sdk.messages.create(params),
  )
  const { content, usage } = message
  const calls = content.filter((block) => block.type === 'tool_use')
  const cacheRead = usage.cache_read_input_tokens ?? 0
  const cacheWrite = usage.cache_creation_input_tokens ?? 0
  return {
    text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    refusal: '',
    reasoning: content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join(''),
    calls: calls.map((call) => ({ id: call.id, name: call.name, arguments: call.input })),
    finish: message.stop_reason ?? '',
    usage: {
      input: usage.input_tokens + cacheRead + cacheWrite,
      output: usage.output_tokens,
      cacheRead,
      cacheWrite,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? null,
    },
    follow: (next) =>
      ask(sdk, question, [...messages, { role: 'assistant', content: blocksOf(content) }, followed(next, calls)]),
  }
}

/** Removes the parsed output of the library, which must not be sent. */
function blocksOf(content: Anthropic.ContentBlock[]): Anthropic.ContentBlockParam[] {
  return content.map((block) => {
    const { parsed_output: _parsed, ...plain } = { parsed_output: null, ...block }
    return plain
  })
}

async function anthropicFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof APIError)) throw error
    throw new SdkFailure(error.apiMessage ?? error.message, error.status, error.headers?.get('retry-after') ?? null)
  }
}

function openingOf(question: Question): Anthropic.MessageParam {
  const text = promptOf(question)
  if (question.image === undefined) return { role: 'user', content: text }
  const source: Anthropic.ImageBlockParam['source'] =
    question.image === 'url' ? { type: 'url', url: IMAGE_URL } : { type: 'base64', media_type: 'image/png', data: PNG }
  return {
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'image', source },
    ],
  }
}

function followed(next: FollowUp, calls: { id: string }[]): Anthropic.MessageParam {
  if ('text' in next) return { role: 'user', content: next.text }
  return {
    role: 'user',
    content: next.results.map((content, at) => ({ type: 'tool_result', tool_use_id: calls[at]?.id ?? '', content })),
  }
}

function paramsOf(question: Question, messages: Anthropic.MessageParam[]): Params {
  const { force, schema } = question
  return {
    model: question.model,
    messages,
    max_tokens: question.maxTokens ?? 4096,
    ...(question.system !== undefined && { system: question.system }),
    ...(question.temperature !== undefined && { temperature: question.temperature }),
    ...(question.topP !== undefined && { top_p: question.topP }),
    ...(question.stop !== undefined && { stop_sequences: question.stop }),
    ...(question.reasons && { thinking: { type: 'enabled', budget_tokens: 1024 } }),
    ...(question.tools !== undefined && {
      tools: question.tools.map((name) => ({
        name,
        description: TOOLS[name].description,
        input_schema: { ...TOOLS[name].schema, type: 'object' as const },
      })),
    }),
    ...(force !== undefined && { tool_choice: { type: 'tool', name: force } }),
    ...(schema !== undefined && { output_config: { format: { type: 'json_schema', schema: { ...schema } } } }),
  }
}
