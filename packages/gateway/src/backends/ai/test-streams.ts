/** Vendor streams for tests: a beginning, pieces of text, an end. */

interface VendorStream {
  /** The provider's key in the config. */
  provider: 'openai' | 'anthropic' | 'gemini'
  /** Records with the id and model only. */
  start: string
  /** Records after the start and before the text. */
  begin: string
  piece(text: string): string
  end: string
  /** An error in place of a beginning, with status 200. */
  error: string
  /** The input tokens reported at the beginning; null when only the end reports them. */
  inputTokens: number | null
}

interface ClientCall {
  path: string
  /** The path of a request for a whole response, for formats in which the path says whether to stream. */
  wholePath?: string
  body: (more?: object) => string
  /** The text that a client of the format reads from a stream. */
  textOf: (stream: string) => string
  /** The error that the client reads from a stream. */
  errorOf: (stream: string) => string | null
}

export const INPUT = 7
export const OUTPUT = 3

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string; [name: string]: unknown }) => `event: ${value.type}\n${data(value)}`
const chunk = (choices: unknown[], more: object = {}) =>
  data({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm-2026', choices, ...more })
const usage = { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT }
const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm-2026', output: [], usage: null }
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
const generated = (parts: object[], more: object = {}, beside: object = {}) =>
  data({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    modelVersion: 'm-2026',
    responseId: 'g1',
    ...beside,
  })
const usageMetadata = { promptTokenCount: INPUT, candidatesTokenCount: OUTPUT, totalTokenCount: INPUT + OUTPUT }
const message = { id: 'msg_1', type: 'message', role: 'assistant' }

export const vendorStreams = {
  completions: {
    provider: 'openai',
    start: chunk([{ index: 0, delta: { role: 'assistant' }, finish_reason: null }]),
    begin: '',
    piece: (text) => chunk([{ index: 0, delta: { content: text }, finish_reason: null }]),
    end: `${chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])}${chunk([], { usage })}data: [DONE]\n\n`,
    error: data({ error: { message: 'too much to do', type: 'server_error', code: 503 } }),
    inputTokens: null,
  },
  messages: {
    provider: 'anthropic',
    start: named({
      type: 'message_start',
      message: { ...message, model: 'm-2026', content: [], usage: { input_tokens: INPUT, output_tokens: 1 } },
    }),
    begin: named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    piece: (text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    end:
      named({ type: 'content_block_stop', index: 0 }) +
      named({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: OUTPUT } }) +
      named({ type: 'message_stop' }),
    error: named({ type: 'error', error: { type: 'overloaded_error', message: 'too much to do' } }),
    inputTokens: INPUT,
  },
  responses: {
    provider: 'openai',
    start: named({ type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress' } }),
    begin:
      named({
        type: 'response.output_item.added',
        sequence_number: 1,
        output_index: 0,
        item: { ...message, status: 'in_progress', content: [] },
      }) +
      named({
        type: 'response.content_part.added',
        sequence_number: 2,
        ...at,
        part: { type: 'output_text', text: '', annotations: [] },
      }),
    piece: (delta) => named({ type: 'response.output_text.delta', sequence_number: 3, ...at, delta }),
    end:
      named({
        type: 'response.output_item.done',
        sequence_number: 4,
        output_index: 0,
        item: { ...message, status: 'completed', content: [] },
      }) +
      named({
        type: 'response.completed',
        sequence_number: 5,
        response: {
          ...response,
          status: 'completed',
          usage: { input_tokens: INPUT, output_tokens: OUTPUT, total_tokens: INPUT + OUTPUT },
        },
      }),
    error: named({ type: 'error', code: 'server_error', message: 'too much to do', param: null }),
    inputTokens: null,
  },
  gemini: {
    provider: 'gemini',
    start: data({ modelVersion: 'm-2026', responseId: 'g1' }),
    begin: '',
    piece: (text) => generated([{ text }]),
    end: generated([{ text: '' }], { finishReason: 'STOP' }, { usageMetadata }),
    error: data({ error: { code: 503, message: 'too much to do', status: 'UNAVAILABLE' } }),
    inputTokens: null,
  },
} satisfies Record<string, VendorStream>

export type StreamName = keyof typeof vendorStreams

const messages = [{ role: 'user', content: 'hi' }]

export const clientCalls: Readonly<Record<StreamName, ClientCall>> = {
  completions: {
    path: '/v1/chat/completions',
    body: (more = {}) => JSON.stringify({ model: 'm', messages, stream: true, ...more }),
    textOf: (stream) => joined(stream, (it) => textIn(it, ['choices', 0, 'delta', 'content'])),
    errorOf: (stream) => found(stream, (it) => textIn(it, ['error', 'message'])),
  },
  messages: {
    path: '/v1/messages',
    body: (more = {}) => JSON.stringify({ model: 'm', max_tokens: 99, messages, stream: true, ...more }),
    textOf: (stream) => joined(stream, (it) => textIn(it, ['delta', 'text'])),
    errorOf: (stream) =>
      found(stream, (it) => (textIn(it, ['type']) === 'error' ? textIn(it, ['error', 'message']) : null)),
  },
  responses: {
    path: '/v1/responses',
    body: (more = {}) => JSON.stringify({ model: 'm', input: 'hi', stream: true, ...more }),
    textOf: (stream) =>
      joined(stream, (it) => (textIn(it, ['type']) === 'response.output_text.delta' ? textIn(it, ['delta']) : null)),
    errorOf: (stream) =>
      found(stream, (it) => (textIn(it, ['type']) === 'error' ? textIn(it, ['message']) : null)) ??
      found(stream, (it) => textIn(it, ['response', 'error', 'message'])),
  },
  gemini: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    wholePath: '/v1beta/models/m:generateContent',
    // The path says whether to stream.
    body: ({ stream: _inPath, ...more }: { stream?: boolean } = {}) =>
      JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...more }),
    textOf: (stream) => joined(stream, (it) => textIn(it, ['candidates', 0, 'content', 'parts', 0, 'text'])),
    errorOf: (stream) => found(stream, (it) => textIn(it, ['error', 'message'])),
  },
}

function recordsOf(stream: string): unknown[] {
  return [...stream.matchAll(/^data: (\{.*\})\r?$/gm)].map(([, text]) => JSON.parse(text!) as unknown)
}

function joined(stream: string, read: (record: unknown) => string | null): string {
  return recordsOf(stream)
    .map((record) => read(record) ?? '')
    .join('')
}

function found(stream: string, read: (record: unknown) => string | null): string | null {
  return (
    recordsOf(stream)
      .map(read)
      .find((text) => text !== null) ?? null
  )
}

function textIn(value: unknown, path: readonly (string | number)[]): string | null {
  const [name, ...rest] = path
  if (name === undefined) return typeof value === 'string' ? value : null
  if (typeof value !== 'object' || value === null) return null
  return textIn(new Map<string | number, unknown>(Object.entries(value)).get(String(name)), rest)
}
