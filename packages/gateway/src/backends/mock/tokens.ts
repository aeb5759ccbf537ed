import type { ChatRequest, Message, Part } from '@portico/chat'

/** The mock's tokens: words, with the spaces around them. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text])
}

/** The number of tokens in all texts of the request. */
export function readTokens({ system, messages, tools }: ChatRequest): number {
  const texts = [
    ...system.map((part) => part.text),
    ...messages.flatMap(({ parts }) => parts.flatMap(textsIn)),
    ...tools.map((tool) => `${tool.name} ${tool.description ?? ''} ${JSON.stringify(tool.schema)}`),
  ]
  return texts.reduce((sum, text) => sum + tokensOf(text).length, 0)
}

/** The text of the last user message; empty when the message has no text. */
export function lastTextOf(messages: readonly Message[]): string {
  const last = messages.findLast(({ role }) => role === 'user')
  return (last?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

function textsIn(part: Part): string[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'reasoning':
      return [part.text]
    case 'toolCall':
      return [part.name, part.arguments]
    case 'toolResult':
      return part.parts.flatMap(textsIn)
    case 'image':
    case 'audio':
    case 'file':
    case 'native':
      return []
  }
}
