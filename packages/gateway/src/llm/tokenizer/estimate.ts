import type { ChatEvent, ChatRequest } from '../middle.ts'
import { readTexts } from './read-texts.ts'

/** What a model reads of a request, as far as that can be told at once. */
export function estimateRequest(request: ChatRequest): number {
  const { texts, tokens } = readTexts(request)
  return texts.reduce((sum, text) => sum + estimateTokens(text), tokens)
}

/** What a model said in an answer whose provider does not count. */
export function estimateAnswer(events: readonly ChatEvent[]): number {
  return events.reduce((sum, event) => sum + (event.type === 'partDelta' ? estimateTokens(event.text) : 0), 0)
}

/** A guess without a vocabulary: four letters of English make a token, and one of most other scripts. */
export function estimateTokens(text: string): number {
  let others = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++
  return Math.ceil((text.length - others) / 4 + others)
}
