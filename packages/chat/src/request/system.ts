import type { ChatRequest, Loss, Message, TextPart } from '../middle.ts'

/**
 * Moves instructions inside the conversation to the front, for formats that have them only there; the move is reported.
 */
export function hoistSystem(request: ChatRequest, losses: Loss[]): Pick<ChatRequest, 'system' | 'messages'> {
  const { system, messages } = request
  if (!messages.some(isSystem)) return { system, messages }
  losses.push({
    what: 'renamed',
    path: 'messages[].role',
    note: 'instructions inside the conversation moved to its front',
  })
  const moved = messages.filter(isSystem).flatMap((message) => message.parts.filter((part) => part.type === 'text'))
  return { system: [...system, ...moved], messages: messages.filter((message) => !isSystem(message)) }
}

function isSystem(message: Message): boolean {
  return message.role === 'system'
}

/** The instructions as one text, without blank ones; null when none is left. */
export function joinSystem(system: readonly TextPart[]): string | null {
  const texts = system.map((part) => part.text).filter((text) => text.trim() !== '')
  return texts.length === 0 ? null : texts.join('\n')
}
