import { setImmediate } from 'node:timers/promises'
import type { ChatRequest } from '../middle.ts'
import { encodingNameOf, loadEncoding } from './encoding.ts'
import { estimateTokens } from './estimate.ts'
import { readTexts } from './read-texts.ts'
import { slicesOf } from './slices.ts'

/**
 * Counts the input tokens of a request: exact for texts of models with a public vocabulary, an estimate for other
 * models, and a guess by kind and size for images and files.
 */
export async function countTokens(request: ChatRequest, model = request.model): Promise<number> {
  const { texts, tokens } = readTexts(request)
  return tokens + (await countTexts(texts, model))
}

/**
 * Counts the tokens of texts for a model. Yields to other work in between, and estimates the rest of very large texts.
 */
export async function countTexts(texts: readonly string[], model: string): Promise<number> {
  const encoding = await loadEncoding(encodingNameOf(model))
  let counted = 0
  let estimated = 0
  let pauseAt = PAUSE_EVERY
  for (const text of texts) {
    for (const slice of slicesOf(text)) {
      if (counted >= MAX_COUNTED) {
        estimated += estimateTokens(slice)
        continue
      }
      counted += encoding.count(slice)
      if (counted < pauseAt) continue
      pauseAt = counted + PAUSE_EVERY
      await setImmediate()
    }
  }
  return counted + estimated
}

/** In tokens, because texts that make many of them take the longest. */
const MAX_COUNTED = 32_768
const PAUSE_EVERY = 512
