import type { ChatEvent, ChatRequest } from '../middle.ts'
import { readTexts } from './read-texts.ts'

/** Estimates the input tokens of a request, without a tokenizer. */
export function estimateRequest(request: ChatRequest): number {
  const { texts, tokens } = readTexts(request)
  return texts.reduce((sum, text) => sum + estimateTokens(text), tokens)
}

/** Estimates the output tokens of a response whose provider does not count them. */
export function estimateAnswer(events: readonly ChatEvent[]): number {
  return events.reduce((sum, event) => sum + (event.type === 'partDelta' ? estimateTokens(event.text) : 0), 0)
}

/** Estimates tokens without a vocabulary: four ASCII characters per token, one character per token in other scripts. */
export function estimateTokens(text: string): number {
  let others = 0
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) others++
  return Math.ceil((text.length - others) / 4 + others)
}
