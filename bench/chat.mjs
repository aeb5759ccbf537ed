// The wire format of a chat with a language model: requests of 300 B, responses of 400 B and streams of 100 events.

const REQUEST_BYTES = 300
const ANSWER_BYTES = 400
const TEXT = 'The gateway forwards each request to a provider and counts the tokens it used. '
const CREATED = 1_763_164_800

/** The number of events of one stream; all but the first and last few contain text. */
export const EVENTS = 100
const AROUND_TEXT = { completions: 4, messages: 5 }

/** @typedef {'completions' | 'messages'} ChatFormat */

/** The path of a format, for clients and providers alike. */
export const PATHS = { completions: '/v1/chat/completions', messages: '/v1/messages' }

/**
 * @param {ChatFormat} format
 * @param {{ stream?: boolean }} [options] like most clients, it does not ask for the usage of a stream
 */
export function chatRequest(format, { stream = false } = {}) {
  return padded(REQUEST_BYTES, (text) => {
    const system = 'You are a helpful assistant. Answer in one short sentence.'
    const user = { role: 'user', content: text }
    const streamed = stream ? { stream } : {}
    if (format === 'messages')
      return { model: 'claude-sonnet-4-5', max_tokens: 256, temperature: 0.7, system, messages: [user], ...streamed }
    const messages = [{ role: 'system', content: system }, user]
    return { model: 'gpt-4.1-mini', messages, max_completion_tokens: 256, temperature: 0.7, ...streamed }
  })
}

/** @param {ChatFormat} format */
export function chatAnswer(format) {
  return padded(ANSWER_BYTES, (text) => (format === 'messages' ? message(text) : completion(text)))
}

/**
 * The events of a streamed answer.
 * @param {ChatFormat} format
 * @returns {string[]}
 */
export function streamEvents(format) {
  const vocabulary = TEXT.trim().split(' ')
  const length = EVENTS - AROUND_TEXT[format]
  const words = Array.from({ length }, (_, i) => ` ${vocabulary[i % vocabulary.length]}`)
  return format === 'messages' ? messageEvents(words) : completionEvents(words)
}

/** The last event of a complete stream. */
export const LAST_EVENT = { completions: 'data: [DONE]\n\n', messages: 'data: {"type":"message_stop"}\n\n' }

function completion(text) {
  const message = { role: 'assistant', content: text, refusal: null }
  return {
    id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
    object: 'chat.completion',
    created: CREATED,
    model: 'gpt-4.1-mini-2025-04-14',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 48, completion_tokens: 32, total_tokens: 80 },
  }
}

function message(text) {
  return {
    id: 'msg_01XFDUDYJgAACzvnptvVoYEL',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 48, output_tokens: 32 },
  }
}

function completionEvents(words) {
  const { id, model } = completion('')
  const chunk = (rest) =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', created: CREATED, model, ...rest })}\n\n`
  const choice = (delta, finish_reason = null) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null })
  const usage = { prompt_tokens: 48, completion_tokens: words.length, total_tokens: 48 + words.length }
  return [
    choice({ role: 'assistant', content: '', refusal: null }),
    ...words.map((content) => choice({ content })),
    choice({}, 'stop'),
    chunk({ choices: [], usage }),
    LAST_EVENT.completions,
  ]
}

function messageEvents(words) {
  const record = (data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const begun = { ...message(''), content: [], stop_reason: null, usage: { input_tokens: 48, output_tokens: 1 } }
  return [
    record({ type: 'message_start', message: begun }),
    record({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...words.map((text) => record({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    record({ type: 'content_block_stop', index: 0 }),
    record({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: words.length },
    }),
    record({ type: 'message_stop' }),
  ]
}

/** Returns the JSON of `made` with a text that pads it to the length. */
function padded(length, made) {
  const missing = length - JSON.stringify(made('')).length
  return JSON.stringify(made(TEXT.repeat(Math.ceil(missing / TEXT.length)).slice(0, missing)))
}
