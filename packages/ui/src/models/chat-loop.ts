import type { McpResult, McpTool } from '../play/mcp-session.ts'
import { McpFailure } from '../play/mcp-session.ts'
import { headerOf, type SentRequest } from '../play/send.ts'
import { type ChatAnswer, ChatReader, type RequestedToolCall } from './chat-reader.ts'
import { asError } from '../api/unknown-values.ts'

/** A message of Chat Completions. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly object[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

/** A line of the conversation as people read it. */
export type Turn =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'model'; readonly answer: ChatAnswer; readonly sent: SentRequest | null; readonly isOver: boolean }
  | {
      readonly kind: 'tool'
      readonly call: RequestedToolCall
      readonly result: McpResult | null
      readonly problem: string | null
      readonly sent: SentRequest | null
    }
  | { readonly kind: 'failed'; readonly text: string; readonly sent: SentRequest | null }

interface ChatParts {
  readonly model: string
  readonly isStream: boolean
  readonly tools: readonly McpTool[]
  /** Calls the model, and reports the text as it arrives. */
  readonly ask: (body: object, onText: (text: string, sent: SentRequest) => void) => Promise<SentRequest>
  readonly callTool: (name: string, args: unknown) => Promise<{ result: McpResult; sent: SentRequest }>
  /** Shows a new turn, or a new state of the last turn. */
  readonly show: (turn: Turn, isNew: boolean) => void
}

/** `runChat` calls the model until it requests no more tools, `MAX_ROUNDS` at most, and returns the new messages. */
export async function runChat(messages: readonly ChatMessage[], parts: ChatParts): Promise<ChatMessage[]> {
  const said: ChatMessage[] = []
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const answer = await askOnce([...messages, ...said], parts)
    if (answer === null) return said
    said.push(assistantMessage(answer))
    if (answer.calls.length === 0) return said
    if (round === MAX_ROUNDS) {
      parts.show({ kind: 'failed', text: `Stopped after ${MAX_ROUNDS} rounds of tool calls`, sent: null }, true)
      // Providers reject a conversation with calls that have no results.
      said.pop()
      return said
    }
    for (const call of answer.calls) said.push(await callOnce(call, parts))
  }
  return said
}

async function askOnce(messages: readonly ChatMessage[], parts: ChatParts): Promise<ChatAnswer | null> {
  const { model, isStream, tools, show } = parts
  let reader: ChatReader | null = null
  let isShown = false
  const body = {
    model,
    messages,
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
  }
  const sent = await parts.ask(body, (text, so) => {
    if (so.status === null || so.status >= 300) return
    reader ??= new ChatReader((headerOf(so, 'content-type') ?? '').startsWith('text/event-stream'))
    reader.read(text)
    if (!isStream) return
    show({ kind: 'model', answer: reader.answer(), sent: null, isOver: false }, !isShown)
    isShown = true
  })
  const problem = problemOf(sent, reader)
  const answer = (reader as ChatReader | null)?.answer() ?? null
  if (answer !== null) show({ kind: 'model', answer, sent, isOver: true }, !isShown)
  if (problem !== null) show({ kind: 'failed', text: problem, sent: answer === null ? sent : null }, true)
  return problem === null ? answer : null
}

function problemOf(sent: SentRequest, reader: ChatReader | null): string | null {
  if (sent.status === null) return sent.end?.error ?? 'The gateway received no response'
  if (sent.status >= 300) return `${sent.status}: ${messageIn(sent.text)}`
  if (sent.end?.error != null) return sent.end.error
  if (reader === null) return 'The response was empty'
  return reader.answer().error
}

/** The message of an error in the format of the API, or the text as it is. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    if (typeof error?.message === 'string') return error.message
  } catch {
    // Errors of the gateway itself are a line of text.
  }
  return text.trim().slice(0, 500)
}

async function callOnce(call: RequestedToolCall, { callTool, show }: ChatParts): Promise<ChatMessage> {
  show({ kind: 'tool', call, result: null, problem: null, sent: null }, true)
  const reply = (content: string): ChatMessage => ({ role: 'tool', tool_call_id: call.id, content })
  try {
    const args: unknown = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments)
    const { result, sent } = await callTool(call.name, args)
    show({ kind: 'tool', call, result, problem: null, sent }, false)
    return reply(resultText(result))
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    const problem = asError(error).message
    show({ kind: 'tool', call, result: null, problem, sent: error instanceof McpFailure ? error.sent : null }, false)
    // A model can continue without the result.
    return reply(`error: ${problem}`)
  }
}

function assistantMessage({ text, calls }: ChatAnswer): ChatMessage {
  if (calls.length === 0) return { role: 'assistant', content: text }
  const tool_calls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  }))
  return { role: 'assistant', content: text === '' ? null : text, tool_calls }
}

function toolOf({ name, description, inputSchema }: McpTool): object {
  const parameters = inputSchema ?? { type: 'object', properties: {} }
  return { type: 'function', function: { name, ...(description !== undefined && { description }), parameters } }
}

/** The parts of a result that a model can read. */
function resultText({ content, structuredContent }: McpResult): string {
  const texts = content.map((item) => {
    const { type, text } = item as { type?: unknown; text?: unknown }
    return type === 'text' && typeof text === 'string' ? text : `[${String(type)}]`
  })
  if (texts.length > 0) return texts.join('\n')
  return structuredContent === undefined ? '' : JSON.stringify(structuredContent)
}

/** The limit of tool rounds per message: every round costs tokens. */
export const MAX_ROUNDS = 8
