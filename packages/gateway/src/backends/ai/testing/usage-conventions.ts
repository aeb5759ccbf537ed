import { eventMessage } from '../../../../../chat/src/testing/event-stream-message.ts'

/** The ways vendors report tokens: bodies as on the wire, and their meaning. */

export interface UsageConvention {
  /** Provider of the config. */
  provider: object
  model: string
  /** Format that the upstream speaks; Gemini and Converse are reached by translation alone. */
  format: 'completions' | 'messages' | 'responses' | 'gemini' | 'converse'
  whole: string
  stream: Buffer
  streamType: string
  expected: { input: number; output: number; cacheRead: number; cacheWrite: number; reasoning: number }
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string; [name: string]: unknown }) => `event: ${value.type}\n${data(value)}`
const SSE = 'text/event-stream'

function completions(whole: object, streamed: object[], expected: UsageConvention['expected']): UsageConvention {
  const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-2026' }
  const content = { index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }
  const stop = { index: 0, delta: {}, finish_reason: 'stop' }
  const chunks = [{ choices: [content] }, { choices: [stop] }, ...streamed]
  return {
    provider: { openai: {} },
    model: 'gpt-test',
    format: 'completions',
    whole: JSON.stringify({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: whole,
    }),
    stream: Buffer.from(`${chunks.map((each) => data({ ...head, ...each })).join('')}data: [DONE]\n\n`),
    streamType: SSE,
    expected,
  }
}

function messages(
  whole: object,
  [start, end]: [object, object],
  expected: UsageConvention['expected'],
): UsageConvention {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm-2026', stop_sequence: null }
  return {
    provider: { anthropic: {} },
    model: 'claude-test',
    format: 'messages',
    whole: JSON.stringify({
      ...message,
      content: [{ type: 'text', text: 'hi' }],
      stop_reason: 'end_turn',
      usage: whole,
    }),
    stream: Buffer.from(
      [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: start } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: end },
        { type: 'message_stop' },
      ]
        .map(named)
        .join(''),
    ),
    streamType: SSE,
    expected,
  }
}

function responses(usage: object, expected: UsageConvention['expected']): UsageConvention {
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm-2026', output: [], usage: null }
  const item = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'hi', annotations: [] }],
  }
  const completed = { ...response, status: 'completed', output: [item], usage }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  return {
    provider: { openai: {} },
    model: 'gpt-test',
    format: 'responses',
    whole: JSON.stringify(completed),
    stream: Buffer.from(
      [
        { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } },
        {
          type: 'response.output_item.added',
          sequence_number: 1,
          output_index: 0,
          item: { ...item, status: 'in_progress', content: [] },
        },
        { type: 'response.output_text.delta', sequence_number: 2, ...at, delta: 'hi' },
        { type: 'response.output_item.done', sequence_number: 3, output_index: 0, item },
        { type: 'response.completed', sequence_number: 4, response: completed },
      ]
        .map(named)
        .join(''),
    ),
    streamType: SSE,
    expected,
  }
}

function gemini(pieces: object[], expected: UsageConvention['expected']): UsageConvention {
  const head = { responseId: 'r1', modelVersion: 'm-2026' }
  const content = { role: 'model', parts: [{ text: 'hi' }] }
  const chunks = pieces.map((usageMetadata, at) => {
    const isLast = at === pieces.length - 1
    const candidate = { index: 0, ...(at === 0 && { content }), ...(isLast && { finishReason: 'STOP' }) }
    return { ...head, candidates: [candidate], usageMetadata }
  })
  return {
    provider: { gemini: {} },
    model: 'gemini-test',
    format: 'gemini',
    whole: JSON.stringify({ ...chunks.at(-1), candidates: [{ index: 0, content, finishReason: 'STOP' }] }),
    stream: Buffer.from(chunks.map(data).join('')),
    streamType: SSE,
    expected,
  }
}

function converse(usage: object, expected: UsageConvention['expected']): UsageConvention {
  const message = { role: 'assistant', content: [{ text: 'hi' }] }
  return {
    provider: { bedrock: { region: 'us-east-1' } },
    model: 'amazon.nova-pro-v1:0',
    format: 'converse',
    whole: JSON.stringify({ output: { message }, stopReason: 'end_turn', usage }),
    stream: Buffer.concat([
      eventMessage('messageStart', { role: 'assistant' }),
      eventMessage('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'hi' } }),
      eventMessage('contentBlockStop', { contentBlockIndex: 0 }),
      eventMessage('messageStop', { stopReason: 'end_turn' }),
      eventMessage('metadata', { usage, metrics: { latencyMs: 1 } }),
    ]),
    streamType: 'application/vnd.amazon.eventstream',
    expected,
  }
}

const none = { cacheRead: 0, cacheWrite: 0, reasoning: 0 }
const openai = {
  prompt_tokens: 2006,
  completion_tokens: 300,
  total_tokens: 2306,
  prompt_tokens_details: { cached_tokens: 1920 },
  completion_tokens_details: { reasoning_tokens: 120 },
}
const deepseek = {
  prompt_tokens: 110,
  completion_tokens: 20,
  total_tokens: 130,
  prompt_cache_hit_tokens: 64,
  prompt_cache_miss_tokens: 46,
}
/** Reasoning counts in the total alone. */
const xai = {
  prompt_tokens: 32,
  completion_tokens: 9,
  total_tokens: 135,
  prompt_tokens_details: { cached_tokens: 6 },
  completion_tokens_details: { reasoning_tokens: 94 },
}
const mistral = { prompt_tokens: 15, completion_tokens: 4, total_tokens: 19 }
const moonshot = { prompt_tokens: 19, completion_tokens: 13, total_tokens: 32, cached_tokens: 10 }
const split = { input_tokens: 3883, cache_read_input_tokens: 30_464, output_tokens: 25 }
const anthropic = { input_tokens: 317, cache_creation_input_tokens: 4425, cache_read_input_tokens: 1000 }
const geminiUsage = {
  promptTokenCount: 50,
  cachedContentTokenCount: 20,
  toolUsePromptTokenCount: 5,
  candidatesTokenCount: 7,
  thoughtsTokenCount: 3,
  totalTokenCount: 65,
}

export const usageConventions: Readonly<Record<string, UsageConvention>> = {
  'Completions of OpenAI': completions(openai, [{ choices: [], usage: openai }], {
    ...none,
    input: 2006,
    output: 300,
    cacheRead: 1920,
    reasoning: 120,
  }),
  'Completions of DeepSeek': completions(deepseek, [{ choices: [], usage: deepseek }], {
    ...none,
    input: 110,
    output: 20,
    cacheRead: 64,
  }),
  'Completions of xAI': completions(xai, [{ choices: [], usage: xai }], {
    ...none,
    input: 32,
    output: 103,
    cacheRead: 6,
    reasoning: 94,
  }),
  'Completions of Mistral, with the reason': completions(
    mistral,
    [{ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }], usage: mistral }],
    { ...none, input: 15, output: 4 },
  ),
  'Completions of Moonshot, in the choice': completions(
    moonshot,
    [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: moonshot }] }],
    { ...none, input: 19, output: 13, cacheRead: 10 },
  ),
  'Completions of Groq': completions(mistral, [{ choices: [], x_groq: { id: 'r', usage: mistral } }], {
    ...none,
    input: 15,
    output: 4,
  }),
  'Completions, growing with every chunk': completions(
    openai,
    [
      { choices: [], usage: { ...openai, completion_tokens: 12, total_tokens: 2018 } },
      { choices: [], usage: openai },
    ],
    { ...none, input: 2006, output: 300, cacheRead: 1920, reasoning: 120 },
  ),
  'Messages of Anthropic': messages(
    { ...anthropic, output_tokens: 16 },
    [
      { ...anthropic, output_tokens: 1 },
      { ...anthropic, output_tokens: 16 },
    ],
    { input: 5742, output: 16, cacheRead: 1000, cacheWrite: 4425, reasoning: 0 },
  ),
  'Messages of Anthropic, input at the start alone': messages(
    { ...anthropic, output_tokens: 16 },
    [{ ...anthropic, output_tokens: 1 }, { output_tokens: 16 }],
    { input: 5742, output: 16, cacheRead: 1000, cacheWrite: 4425, reasoning: 0 },
  ),
  'Messages of Anthropic, more input with server tools': messages(
    { input_tokens: 10_682, output_tokens: 510 },
    [
      { input_tokens: 2679, output_tokens: 3 },
      { input_tokens: 10_682, output_tokens: 510 },
    ],
    { ...none, input: 10_682, output: 510 },
  ),
  'Messages of vLLM, cache split out at the end': messages(split, [{ input_tokens: 34_824, output_tokens: 0 }, split], {
    ...none,
    input: 34_347,
    output: 25,
    cacheRead: 30_464,
  }),
  'Messages, all of it cached at the end': messages(
    { input_tokens: 0, cache_read_input_tokens: 512, output_tokens: 4 },
    [
      { input_tokens: 512, output_tokens: 0 },
      { input_tokens: 0, cache_read_input_tokens: 512, output_tokens: 4 },
    ],
    { ...none, input: 512, output: 4, cacheRead: 512 },
  ),
  'Messages, zeros for the input at the end': messages(
    { ...anthropic, output_tokens: 16 },
    [
      { ...anthropic, output_tokens: 0 },
      { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 16 },
    ],
    { input: 5742, output: 16, cacheRead: 1000, cacheWrite: 4425, reasoning: 0 },
  ),
  'Messages, a lower estimate corrected at the end': messages(
    { input_tokens: 90, output_tokens: 6 },
    [
      { input_tokens: 100, output_tokens: 8 },
      { input_tokens: 90, output_tokens: 6 },
    ],
    { ...none, input: 90, output: 6 },
  ),
  'Responses of OpenAI': responses(
    {
      input_tokens: 125,
      input_tokens_details: { cached_tokens: 98 },
      output_tokens: 48,
      output_tokens_details: { reasoning_tokens: 30 },
      total_tokens: 173,
    },
    { ...none, input: 125, output: 48, cacheRead: 98, reasoning: 30 },
  ),
  Gemini: gemini([{ promptTokenCount: 50, totalTokenCount: 50 }, geminiUsage], {
    ...none,
    input: 55,
    output: 10,
    cacheRead: 20,
    reasoning: 3,
  }),
  'Converse of Bedrock': converse(
    { inputTokens: 10, outputTokens: 8, cacheReadInputTokens: 4, cacheWriteInputTokens: 6, totalTokens: 28 },
    { input: 20, output: 8, cacheRead: 4, cacheWrite: 6, reasoning: 0 },
  ),
}
