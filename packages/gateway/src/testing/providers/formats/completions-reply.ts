import type OpenAI from 'openai'
import {
  type Answer,
  answerText,
  argumentPieces,
  type CallPart,
  type Failure,
  type Finish,
  joinPieces,
} from '../answer.ts'
import type { ParsedRequest } from '../parsed-request.ts'
import { type FakeReply, json, retryHeaders, sse } from '../reply.ts'
import { dataFrame } from '../sse.ts'

/** How servers of this format differ from OpenAI's own. */
export interface CompletionsQuirks {
  /** Usage stands in the chunk that ends the answer, not in one of its own, whether asked for or not. */
  usageOnLastChoice?: true
  /** Filter results in the first chunk, which has no choice, and beside every choice. */
  contentFilter?: true
  /** Reasoning is shown, as DeepSeek and others do it. */
  showsReasoning?: true
}

type Chunk = OpenAI.Chat.ChatCompletionChunk
type Choice = Chunk['choices'][number]

interface OpenAiError {
  error: { message: string; type: string; param: string | null; code: string | null }
}

export function completionsReply(answer: Answer, asked: ParsedRequest, quirks: CompletionsQuirks): FakeReply {
  const refusal = partText(answer, 'refusal')
  const calls = callsOf(answer)
  const content = answerText(answer)
  const message = {
    role: 'assistant' as const,
    content: content === '' ? null : content,
    refusal: refusal === '' ? null : refusal,
    annotations: [],
    ...(calls.length > 0 && { tool_calls: calls.map(wholeCall) }),
    ...(quirks.showsReasoning && { reasoning_content: partText(answer, 'reasoning') }),
  }
  const body: OpenAI.Chat.ChatCompletion = {
    id: ID,
    object: 'chat.completion',
    created: CREATED,
    model: asked.model,
    choices: [
      {
        index: 0,
        message,
        logprobs: null,
        finish_reason: finishWord(answer.finish),
        ...(quirks.contentFilter && { content_filter_results: UNFILTERED }),
      },
    ],
    usage: usageOf(answer),
    service_tier: 'default',
    system_fingerprint: FINGERPRINT,
  }
  return json(quirks.contentFilter ? { ...body, prompt_filter_results: PROMPT_FILTER } : body)
}

export function completionsStream(
  answer: Answer,
  asked: ParsedRequest & { includeUsage: boolean },
  quirks: CompletionsQuirks,
): FakeReply {
  const frames: Buffer[] = []
  const nullUsage = asked.includeUsage && !quirks.usageOnLastChoice ? { usage: null } : {}
  const head = {
    id: ID,
    object: 'chat.completion.chunk' as const,
    created: CREATED,
    model: asked.model,
    service_tier: 'default' as const,
    system_fingerprint: FINGERPRINT,
  }

  function say(
    delta: Choice['delta'] & { reasoning_content?: string },
    finish: Choice['finish_reason'] = null,
    more: object = {},
  ): void {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finish }
    const chunk: Chunk = { ...head, choices: [choice], ...nullUsage, ...more }
    frames.push(dataFrame(chunk))
  }

  if (quirks.contentFilter) {
    frames.push(
      dataFrame({ ...head, id: '', created: 0, model: '', choices: [], prompt_filter_results: PROMPT_FILTER }),
    )
  }
  say({ role: 'assistant', content: '', refusal: null })
  let calls = 0
  for (const part of answer.parts) {
    switch (part.type) {
      case 'text':
        for (const content of part.pieces) say({ content })
        break
      case 'refusal':
        for (const refusal of part.pieces) say({ refusal })
        break
      case 'reasoning':
        if (quirks.showsReasoning) for (const piece of part.pieces) say({ reasoning_content: piece })
        break
      case 'call': {
        const index = calls++
        const { id, type, function: named } = wholeCall(part)
        say({ tool_calls: [{ index, id, type, function: { name: named.name, arguments: '' } }] })
        for (const piece of argumentPieces(part)) say({ tool_calls: [{ index, function: { arguments: piece } }] })
        break
      }
    }
  }
  if (answer.failure !== undefined) return sse([...frames, dataFrame(completionsError(answer.failure, null).body)])
  const usage = usageOf(answer)
  say({}, finishWord(answer.finish), quirks.usageOnLastChoice ? { usage } : {})
  if (asked.includeUsage && !quirks.usageOnLastChoice) frames.push(dataFrame({ ...head, choices: [], usage }))
  frames.push(dataFrame('[DONE]'))
  return sse(frames)
}

/** Both formats of OpenAI speak of failures alike. */
export function completionsError(failure: Failure, param: string | null): { status: number; body: OpenAiError } {
  const [status, type, code] = ERRORS[failure.kind]
  return { status, body: { error: { message: failure.message, type, param, code } } }
}

export function completionsFailure(failure: Failure, param: string | null): FakeReply {
  const { status, body } = completionsError(failure, param)
  return json(body, { 'x-request-id': 'req_fake', ...retryHeaders(failure) }, status)
}

/** Ids have the vendor's prefix. */
export function openaiCallId(call: CallPart): string {
  return `call_${call.id}`
}

function callsOf(answer: Answer): CallPart[] {
  return answer.parts.filter((part) => part.type === 'call')
}

function partText(answer: Answer, type: 'refusal' | 'reasoning'): string {
  return answer.parts.map((part) => (part.type === type ? joinPieces(part) : '')).join('')
}

function wholeCall(call: CallPart): OpenAI.Chat.ChatCompletionMessageFunctionToolCall {
  return { id: openaiCallId(call), type: 'function', function: { name: call.name, arguments: call.arguments } }
}

function finishWord(finish: Finish): OpenAI.Chat.ChatCompletion.Choice['finish_reason'] {
  return FINISH_WORDS[finish]
}

function usageOf({ usage }: Answer): OpenAI.CompletionUsage {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, audio_tokens: 0, cache_write_tokens: usage.cacheWrite },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

const FINISH_WORDS = {
  stop: 'stop',
  length: 'length',
  toolCalls: 'tool_calls',
  stopSequence: 'stop',
  filtered: 'content_filter',
} as const

/** Status, type and code. */
const ERRORS: Record<Failure['kind'], [number, string, string | null]> = {
  invalid: [400, 'invalid_request_error', null],
  authentication: [401, 'invalid_request_error', 'invalid_api_key'],
  permission: [403, 'invalid_request_error', 'unsupported_country_region_territory'],
  notFound: [404, 'invalid_request_error', 'model_not_found'],
  tooLarge: [413, 'invalid_request_error', 'request_too_large'],
  rateLimit: [429, 'tokens', 'rate_limit_exceeded'],
  server: [500, 'server_error', null],
  unavailable: [503, 'server_error', null],
  overloaded: [503, 'server_error', 'server_is_overloaded'],
}

const ID = 'chatcmpl-fake1'
const CREATED = 1_700_000_000
const FINGERPRINT = 'fp_fake'
const UNFILTERED = {
  hate: { filtered: false, severity: 'safe' },
  self_harm: { filtered: false, severity: 'safe' },
  sexual: { filtered: false, severity: 'safe' },
  violence: { filtered: false, severity: 'safe' },
}
const PROMPT_FILTER = [{ prompt_index: 0, content_filter_results: UNFILTERED }]
