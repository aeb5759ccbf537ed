import type { ChatRequest } from '../middle.ts'
import { countTexts } from './count-texts.ts'
import { readTexts } from './read-texts.ts'

/**
 * Tokens that a model reads of a request: exact for texts of models whose vocabulary is public, an estimate for others,
 * and a guess by kind and size for what is no text.
 */
export async function countTokens(request: ChatRequest, model = request.model): Promise<number> {
  const { texts, tokens } = readTexts(request)
  return tokens + (await countTexts(texts, model))
}
