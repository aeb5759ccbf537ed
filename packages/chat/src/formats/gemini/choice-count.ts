import type { ChatRequest } from '../../middle.ts'

/** The number of choices that the client asks for. */
export function choiceCount({ format, rest }: Pick<ChatRequest, 'format' | 'rest'>): number {
  const n = format === 'completions' ? rest.n : format === 'gemini' ? rest['generationConfig.candidateCount'] : 1
  return typeof n === 'number' && Number.isInteger(n) && n > 0 && n <= MOST_CHOICES ? n : 1
}

/** OpenAI's limit. Gemini allows fewer choices and refuses more itself. */
const MOST_CHOICES = 128
