import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import {
  APICallError,
  type FinishReason,
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  streamText,
  tool,
  type ToolSet,
} from 'ai'
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

type ModelOf = (question: Question) => LanguageModel

export function aiOpenaiChatClient({ url, key }: Endpoint): SdkClient {
  const provider = createOpenAI({ baseURL: url, apiKey: key })
  return clientOf('ai openai chat', ({ model }) => provider.chat(model))
}

export function aiOpenaiResponsesClient({ url, key }: Endpoint): SdkClient {
  const provider = createOpenAI({ baseURL: url, apiKey: key })
  return clientOf('ai openai responses', ({ model }) => provider.responses(model))
}

export function aiAnthropicClient({ url, key }: Endpoint): SdkClient {
  const provider = createAnthropic({ baseURL: `${url}/v1`, apiKey: key })
  return clientOf('ai anthropic', ({ model }) => provider(model))
}

export function aiGoogleClient({ url, key }: Endpoint): SdkClient {
  const provider = createGoogle({ baseURL: `${url}/v1beta`, apiKey: key })
  return clientOf('ai google', ({ model }) => provider(model))
}

function clientOf(name: string, modelOf: ModelOf): SdkClient {
  return { name, ask: (question) => ask(modelOf(question), question, [openingOf(question)]) }
}

/** The result of a streamed or buffered call. */
interface Result {
  text: string
  reasoningText: string | undefined
  toolCalls: { toolCallId: string; toolName: string; input: unknown }[]
  finishReason: FinishReason
  usage: LanguageModelUsage
  responseMessages: ModelMessage[]
}

async function ask(model: LanguageModel, question: Question, messages: ModelMessage[]): Promise<SdkReply> {
  const options = { ...optionsOf(question), model, messages, maxRetries: 0 }
  const result = await aiFailure(() => (question.streamed ? streamed(options) : generateText(options)))
  const { usage } = result
  return {
    text: result.text,
    refusal: '',
    reasoning: result.reasoningText ?? '',
    calls: result.toolCalls.map((call) => ({ id: call.toolCallId, name: call.toolName, arguments: call.input })),
    finish: result.finishReason,
    usage: {
      input: usage.inputTokens ?? null,
      output: usage.outputTokens ?? null,
      cacheRead: usage.inputTokenDetails.cacheReadTokens ?? null,
      cacheWrite: usage.inputTokenDetails.cacheWriteTokens ?? null,
      reasoning: usage.outputTokenDetails.reasoningTokens ?? null,
    },
    follow: (next) => ask(model, question, [...messages, ...result.responseMessages, followed(next, result)]),
  }
}

async function streamed(options: Parameters<typeof streamText>[0]): Promise<Result> {
  let failure: unknown = null
  const result = streamText({
    ...options,
    onError({ error }) {
      failure = error
    },
  })
  await result.consumeStream()
  if (failure !== null) throw failure
  return {
    text: await result.text,
    reasoningText: await result.reasoningText,
    toolCalls: await result.toolCalls,
    finishReason: await result.finishReason,
    usage: await result.usage,
    responseMessages: await result.responseMessages,
  }
}

async function aiFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (APICallError.isInstance(error)) {
      throw new SdkFailure(error.message, error.statusCode, error.responseHeaders?.['retry-after'] ?? null)
    }
    // Errors within a stream are thrown as the provider sent them.
    throw error instanceof SdkFailure ? error : new SdkFailure(messageOf(error), undefined)
  }
}

function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return JSON.stringify(error)
}

function openingOf(question: Question): ModelMessage {
  const text = promptOf(question)
  if (question.image === undefined) return { role: 'user', content: text }
  const data = question.image === 'url' ? new URL(IMAGE_URL) : PNG
  return {
    role: 'user',
    content: [
      { type: 'text', text },
      { type: 'file', data, mediaType: 'image/png' },
    ],
  }
}

function followed(next: FollowUp, { toolCalls }: Result): ModelMessage {
  if ('text' in next) return { role: 'user', content: next.text }
  return {
    role: 'tool',
    content: next.results.map((value, at) => ({
      type: 'tool-result',
      toolCallId: toolCalls[at]?.toolCallId ?? '',
      toolName: toolCalls[at]?.toolName ?? '',
      output: { type: 'text', value },
    })),
  }
}

function optionsOf(question: Question) {
  const { system, force, schema, maxTokens, temperature, topP, stop } = question
  const tools: ToolSet = Object.fromEntries(
    (question.tools ?? []).map((name) => [
      name,
      tool({ description: TOOLS[name].description, inputSchema: jsonSchema(schemaOf(TOOLS[name].schema)) }),
    ]),
  )
  return {
    ...(system !== undefined && { instructions: system }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(stop !== undefined && { stopSequences: stop }),
    ...(question.tools !== undefined && { tools }),
    ...(force !== undefined && { toolChoice: { type: 'tool' as const, toolName: force } }),
    ...(schema !== undefined && { output: Output.object({ schema: jsonSchema(schemaOf(schema)) }) }),
    ...(question.reasons && { reasoning: 'low' as const }),
    // Nothing is kept at the provider, so every turn carries the whole conversation.
    providerOptions: {
      openai: { store: false, ...(question.reasons && { reasoningSummary: 'auto', forceReasoning: true }) },
      ...(question.reasons && { google: { thinkingConfig: { includeThoughts: true } } }),
    },
  }
}

function schemaOf(schema: object): Parameters<typeof jsonSchema>[0] {
  return { ...schema }
}
