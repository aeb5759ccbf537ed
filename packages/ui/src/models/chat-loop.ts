import type { McpResult, McpTool } from '../play/mcp-session.ts'
import { McpFailure } from '../play/mcp-session.ts'
import { headerOf, type Sent } from '../play/send.ts'
import { type ChatAnswer, ChatReader, type WantedCall } from './chat-reader.ts'

/** What was said, in the form that Chat Completions has for it. */
export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly tool_calls?: readonly object[] }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }

/** A line of the conversation as people read it. */
export type Turn =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'model'; readonly answer: ChatAnswer; readonly sent: Sent | null; readonly isOver: boolean }
  | {
      readonly kind: 'tool'
      readonly call: WantedCall
      readonly result: McpResult | null
      readonly problem: string | null
      readonly sent: Sent | null
    }
  | { readonly kind: 'failed'; readonly text: string; readonly sent: Sent | null }

export interface ChatParts {
  readonly model: string
  readonly isStream: boolean
  readonly tools: readonly McpTool[]
  /** Asks the model; tells of the text as it comes. */
  readonly ask: (body: object, onText: (text: string, sent: Sent) => void) => Promise<Sent>
  readonly callTool: (name: string, args: unknown) => Promise<{ result: McpResult; sent: Sent }>
  /** A new turn, or another state of the last one. */
  readonly show: (turn: Turn, isNew: boolean) => void
}

/** Asks until the model has nothing more to call; gives what was said besides. Tools in the loop are bounded. */
export async function runChat(messages: readonly ChatMessage[], parts: ChatParts): Promise<ChatMessage[]> {
  const said: ChatMessage[] = []
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const answer = await askOnce([...messages, ...said], parts)
    if (answer === null) return said
    said.push(assistantMessage(answer))
    if (answer.calls.length === 0) return said
    if (round === MAX_ROUNDS) {
      parts.show({ kind: 'failed', text: `stopped after ${MAX_ROUNDS} rounds of tools`, sent: null }, true)
      // Calls without results would be refused with the next question.
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

function problemOf(sent: Sent, reader: ChatReader | null): string | null {
  if (sent.status === null) return sent.end?.error ?? 'there was no answer'
  if (sent.status >= 300) return `${sent.status}: ${messageIn(sent.text)}`
  if (sent.end?.error != null) return sent.end.error
  if (reader === null) return 'the answer was empty'
  return reader.answer().error
}

/** Of an error in the format of the API its message, else its text. */
function messageIn(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    if (typeof error?.message === 'string') return error.message
  } catch {
    // The gateway's own refusals are a line of text.
  }
  return text.trim().slice(0, 500)
}

async function callOnce(call: WantedCall, { callTool, show }: ChatParts): Promise<ChatMessage> {
  show({ kind: 'tool', call, result: null, problem: null, sent: null }, true)
  const reply = (content: string): ChatMessage => ({ role: 'tool', tool_call_id: call.id, content })
  try {
    const args: unknown = call.arguments.trim() === '' ? {} : JSON.parse(call.arguments)
    const { result, sent } = await callTool(call.name, args)
    show({ kind: 'tool', call, result, problem: null, sent }, false)
    return reply(textOf(result))
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    const problem = error instanceof Error ? error.message : String(error)
    show({ kind: 'tool', call, result: null, problem, sent: error instanceof McpFailure ? error.sent : null }, false)
    // Models can go on without it.
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

/** What a model can read of a result. */
function textOf({ content, structuredContent }: McpResult): string {
  const texts = content.map((item) => {
    const { type, text } = item as { type?: unknown; text?: unknown }
    return type === 'text' && typeof text === 'string' ? text : `[${String(type)}]`
  })
  if (texts.length > 0) return texts.join('\n')
  return structuredContent === undefined ? '' : JSON.stringify(structuredContent)
}

/** A model that goes on calling would go on spending. */
export const MAX_ROUNDS = 8
