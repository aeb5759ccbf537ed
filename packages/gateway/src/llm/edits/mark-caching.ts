import type { PromptCachingConfig } from './schema.ts'
import type { ChatRequest, JsonObject, Message, Part } from '../middle.ts'

/**
 * The request with marks where the provider should cache, as the policy says. A client of the Messages format has said
 * it itself. Whether the provider and the model know caching is for `Provider.cachesPrompts` to say.
 */
export function markCaching(request: ChatRequest, config: PromptCachingConfig): ChatRequest {
  if (request.format === 'messages') return request
  const { system, messages, tools } = request
  const isLong = wordsOf(system) * 13 >= config.minTokens * 10
  return {
    ...request,
    system: config.cacheSystem && isLong ? withMark(system, system.length - 1) : system,
    messages: config.cacheMessages ? markMessage(messages, config.cacheMessageOffset) : messages,
    tools: config.cacheTools ? withMark(tools, tools.length - 1) : tools,
  }
}

function wordsOf(parts: readonly { text: string }[]): number {
  return parts.reduce((words, { text }) => words + (text.match(/\S+/g)?.length ?? 0), 0)
}

/** Marks the end of the last turn but one, or of an earlier one. Neighbours of one role are one turn to the provider. */
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

/** Where each turn ends; instructions inside the conversation move out of it, and are none. */
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

/** A mark of the client's own stays as it is. */
function withMark<T extends object>(items: readonly T[], at: number): T[] {
  const item = items[at]
  return item === undefined ? [...items] : items.with(at, { cache: MARK, ...item })
}

const MARK: JsonObject = { type: 'ephemeral' }
