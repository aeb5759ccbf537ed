import type { PromptConfig, PromptCachingConfig } from './schema.ts'
import type { ChatRequest, Message, TextPart, JsonObject, Part } from '@portico/chat'

type Entry = NonNullable<PromptConfig['prepend']>[number]

/**
 * Adds the messages of the config before and after the client's. Prepended instructions join the client's instructions.
 * Appended instructions come last in the conversation, except in Messages, which has one list for all instructions.
 */
export function enrichPrompt(request: ChatRequest, { prepend = [], append = [] }: PromptConfig): ChatRequest {
  if (prepend.length === 0 && append.length === 0) return request
  const hasOneList = request.format === 'messages'
  const appended = hasOneList ? append.filter(isInstruction).map(toTextPart) : []
  const last = hasOneList ? append.filter((entry) => !isInstruction(entry)) : append
  return {
    ...request,
    system: [...prepend.filter(isInstruction).map(toTextPart), ...request.system, ...appended],
    messages: [
      ...prepend.filter((entry) => !isInstruction(entry)).map(toMessage),
      ...request.messages,
      ...last.map(toMessage),
    ],
  }
}

function isInstruction({ role }: Entry): boolean {
  return role === 'system' || role === 'developer'
}

function toTextPart({ content }: Entry): TextPart {
  return { type: 'text', text: content }
}

function toMessage(entry: Entry): Message {
  const role = entry.role === 'developer' ? 'system' : entry.role
  return { role, parts: [toTextPart(entry)] }
}

/**
 * The request with the cache marks that the policy asks for. Clients of the Messages format set their own marks, so
 * their requests stay unchanged. `Provider.cachesPrompts` says whether the provider and the model support caching.
 */
export function markCaching(request: ChatRequest, config: PromptCachingConfig): ChatRequest {
  if (request.format === 'messages') return request
  const { system, messages, tools } = request
  const isLong = countWords(system) * 13 >= config.minTokens * 10
  return {
    ...request,
    system: config.cacheSystem && isLong ? withMark(system, system.length - 1) : system,
    messages: config.cacheMessages ? markMessage(messages, config.cacheMessageOffset) : messages,
    tools: config.cacheTools ? withMark(tools, tools.length - 1) : tools,
  }
}

function countWords(parts: readonly { text: string }[]): number {
  return parts.reduce((words, { text }) => words + (text.match(/\S+/g)?.length ?? 0), 0)
}

/**
 * Marks the end of the last turn but one, or of a turn `offset` before that turn. The provider reads adjacent messages
 * of one role as one turn.
 */
function markMessage(messages: readonly Message[], offset: number): Message[] {
  const ends = turnEnds(messages)
  if (ends.length < 2) return [...messages]
  const turn = Math.max(0, ends.length - 2 - offset)
  const start = (ends[turn - 1] ?? -1) + 1
  for (let at = ends[turn] ?? -1; at >= start; at -= 1) {
    const message = messages[at]
    const part = message?.parts.findLastIndex(isCacheable) ?? -1
    if (message === undefined || part === -1) continue
    return messages.with(at, { ...message, parts: withMark(message.parts, part) })
  }
  return [...messages]
}

/**
 * The index of the last message of each turn. System messages inside the conversation are moved out of it later, so
 * they are not turns.
 */
function turnEnds(messages: readonly Message[]): number[] {
  const ends: number[] = []
  let role: Message['role'] | null = null
  for (const [at, message] of messages.entries()) {
    if (message.role === 'system') continue
    if (message.role === role) ends.pop()
    ends.push(at)
    role = message.role
  }
  return ends
}

function isCacheable(part: Part): boolean {
  switch (part.type) {
    case 'text':
      return part.text.trim() !== ''
    case 'image':
    case 'file':
    case 'toolCall':
    case 'toolResult':
      return true
    case 'audio':
    case 'reasoning':
    case 'refusal':
    case 'native':
      return false
  }
}

/** Adds a cache mark to the item at `at`; a mark that the client set is kept. */
function withMark<T extends object>(items: readonly T[], at: number): T[] {
  const item = items[at]
  return item === undefined ? [...items] : items.with(at, { cache: MARK, ...item })
}

const MARK: JsonObject = { type: 'ephemeral' }
