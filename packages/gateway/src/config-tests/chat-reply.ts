import { type ChatEvent, type ChatRequest, type ClientFormat, clientFormats, type FormatName } from '@portico/chat'
import { isObject, type JsonObject } from '@portico/http/json'
import type { UpstreamMessage, WorldReply } from '../simulate/world.ts'

interface ChatAnswer {
  readonly text: string
  /** Null counts words. */
  readonly usage: { input: number; output: number } | null
}

/** The response of a provider to a model call, in the format of the call; null when the request is no such call. */
export function chatReply(
  { target, body }: Pick<UpstreamMessage, 'target' | 'body'>,
  { text, usage }: ChatAnswer,
): Omit<WorldReply, 'delayMs' | 'fault'> | null {
  const [path = ''] = target.split('?', 1)
  const name = PATHS.find(([pattern]) => pattern.test(path))?.[1]
  const json = parsed(body)
  if (name === undefined || json === null) return null
  const used = usage ?? { input: wordsIn(body.toString('utf8')), output: wordsIn(text) }
  if (name === 'gemini') return geminiReply(path, text, used)
  // Its streams are binary.
  if (name === 'converse') return path.endsWith('-stream') ? null : jsonReply(converseAnswer(text, used))
  const format = CLIENT_FORMATS[name]
  if (format === undefined) return null
  const request = format.decodeRequest(json)
  if (!isRequest(request)) return null
  const model = request.model === '' ? modelIn(path) : request.model
  const isStream = request.stream || STREAM_PATHS.test(path)
  const context = {
    request,
    model,
    now: 0,
    newId: (prefix: string) => `${prefix}simulated`,
    toolNames: new Map<string, string>(),
  }
  const events = eventsOf(model, text, used)
  if (!isStream) return jsonReply(format.encodeResponse(events, context))
  const encoder = format.createStreamEncoder(context)
  const bytes = events.map((event) => encoder.event(event)).join('') + encoder.end()
  return eventsReply(bytes)
}

type ProviderReply = Omit<WorldReply, 'delayMs' | 'fault'>
type Tokens = NonNullable<ChatAnswer['usage']>

function jsonReply(answer: object): ProviderReply {
  const headers: [string, string][] = [['content-type', 'application/json']]
  return { status: 200, headers, body: Buffer.from(JSON.stringify(answer)), trailers: null }
}

function eventsReply(bytes: string): ProviderReply {
  return { status: 200, headers: [['content-type', 'text/event-stream']], body: Buffer.from(bytes), trailers: null }
}

function geminiReply(path: string, text: string, { input, output }: Tokens): ProviderReply {
  const answer = {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
    modelVersion: modelIn(path),
  }
  return STREAM_PATHS.test(path) ? eventsReply(`data: ${JSON.stringify(answer)}\r\n\r\n`) : jsonReply(answer)
}

function converseAnswer(text: string, { input, output }: Tokens): object {
  return {
    output: { message: { role: 'assistant', content: [{ text }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: input, outputTokens: output, totalTokens: input + output },
  }
}

const PATHS: readonly (readonly [RegExp, FormatName])[] = [
  [/\/chat\/completions$/, 'completions'],
  [/\/messages$/, 'messages'],
  [/:(rawPredict|streamRawPredict)$/, 'messages'],
  [/\/responses$/, 'responses'],
  [/:(generateContent|streamGenerateContent)$/, 'gemini'],
  [/\/converse(-stream)?$/, 'converse'],
]
const CLIENT_FORMATS: Partial<Record<FormatName, ClientFormat>> = clientFormats
const STREAM_PATHS = /:(streamGenerateContent|streamRawPredict)$|\/converse-stream$/

function eventsOf(model: string, text: string, usage: { input: number; output: number }): ChatEvent[] {
  return [
    { type: 'start', id: 'simulated', model },
    { type: 'partStart', index: 0, part: { type: 'text' } },
    { type: 'partDelta', index: 0, text },
    { type: 'partEnd', index: 0 },
    { type: 'usage', usage: { ...usage, providerInput: usage.input, providerTotal: usage.input + usage.output } },
    { type: 'finish', reason: 'stop' },
  ]
}

function isRequest(made: ChatRequest | object): made is ChatRequest {
  return 'messages' in made
}

function parsed(body: Buffer): JsonObject | null {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'))
    return isObject(json) ? (json as JsonObject) : null
  } catch {
    return null
  }
}

/** `/model/<name>/converse`, `/models/<name>:generateContent`. */
function modelIn(path: string): string {
  return decodeURIComponent(/\/models?\/([^/:]+)/.exec(path)?.[1] ?? '')
}

function wordsIn(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length
}
