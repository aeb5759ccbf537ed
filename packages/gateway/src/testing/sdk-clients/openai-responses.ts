import OpenAI from 'openai'
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
import { openaiFailure } from './openai-failure.ts'

type Item = OpenAI.Responses.ResponseInputItem
type Params = OpenAI.Responses.ResponseCreateParamsNonStreaming
type Call = OpenAI.Responses.ResponseFunctionToolCall

export function openaiResponsesClient({ url, key }: Endpoint): SdkClient {
  return openaiResponsesClientOf('openai responses', new OpenAI({ baseURL: url, apiKey: key, maxRetries: 0 }))
}

export function openaiResponsesClientOf(name: string, sdk: OpenAI): SdkClient {
  return { name, ask: (question) => ask(sdk, question, [openingOf(question)]) }
}

async function ask(sdk: OpenAI, question: Question, input: Item[]): Promise<SdkReply> {
  const params = paramsOf(question, input)
  const response = await openaiFailure(() =>
    question.streamed
      ? sdk.responses.stream({ ...params, stream: true }).finalResponse()
      : sdk.responses.create(params),
  )
  if (response.error !== null) throw new SdkFailure(response.error.message, undefined)
  const calls = response.output.filter((item): item is Call => item.type === 'function_call')
  const { usage } = response
  return {
    text: response.output_text,
    refusal: refusalOf(response),
    reasoning: reasoningOf(response),
    calls: calls.map((call) => ({ id: call.call_id, name: call.name, arguments: JSON.parse(call.arguments) })),
    finish: response.incomplete_details?.reason ?? response.status ?? '',
    usage: {
      input: usage?.input_tokens ?? null,
      output: usage?.output_tokens ?? null,
      cacheRead: usage?.input_tokens_details.cached_tokens ?? null,
      cacheWrite: usage?.input_tokens_details.cache_write_tokens ?? null,
      reasoning: usage?.output_tokens_details.reasoning_tokens ?? null,
    },
    follow: (next) => ask(sdk, question, [...input, ...response.output.map(unparsed), ...followed(next, calls)]),
  }
}

/** The library adds what it parsed to items; that is not for the wire. */
function unparsed(item: OpenAI.Responses.ResponseOutputItem): Item {
  const { parsed_arguments: _parsed, ...plain } = { parsed_arguments: null, ...item }
  if (plain.type !== 'message') return plain as Item
  const content = plain.content.map((part) => {
    const { parsed: _inner, ...rest } = { parsed: null, ...part }
    return rest
  })
  return { ...plain, content }
}

function refusalOf(response: OpenAI.Responses.Response): string {
  return response.output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'refusal' ? part.refusal : ''))
    .join('')
}

function reasoningOf(response: OpenAI.Responses.Response): string {
  return response.output
    .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
    .map((section) => section.text)
    .join('')
}

function openingOf(question: Question): Item {
  const text = promptOf(question)
  const image_url = question.image === 'url' ? IMAGE_URL : `data:image/png;base64,${PNG}`
  return {
    role: 'user',
    content:
      question.image === undefined
        ? text
        : [
            { type: 'input_text', text },
            { type: 'input_image', image_url, detail: 'auto' },
          ],
  }
}

function followed(next: FollowUp, calls: Call[]): Item[] {
  if ('text' in next) return [{ role: 'user', content: next.text }]
  return next.results.map((output, at) => ({ type: 'function_call_output', call_id: calls[at]?.call_id ?? '', output }))
}

function paramsOf(question: Question, input: Item[]): Params {
  const { force, schema } = question
  return {
    model: question.model,
    input,
    store: false,
    ...(question.system !== undefined && { instructions: question.system }),
    ...(question.maxTokens !== undefined && { max_output_tokens: question.maxTokens }),
    ...(question.temperature !== undefined && { temperature: question.temperature }),
    ...(question.topP !== undefined && { top_p: question.topP }),
    ...(question.reasons && {
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    }),
    ...(question.tools !== undefined && {
      tools: question.tools.map((name) => ({
        type: 'function',
        name,
        description: TOOLS[name].description,
        parameters: TOOLS[name].schema,
        strict: false,
      })),
    }),
    ...(force !== undefined && { tool_choice: { type: 'function', name: force } }),
    ...(schema !== undefined && {
      text: { format: { type: 'json_schema', name: 'person', strict: true, schema: { ...schema } } },
    }),
  }
}
