import type { ChatRequest } from '../../middle.ts'

/** The number of choices that the client asks for; only Chat Completions has a member for the number. */
export function choiceCount({ format, rest }: Pick<ChatRequest, 'format' | 'rest'>): number {
  const { n } = rest
  const isCount = format === 'completions' && typeof n === 'number' && Number.isInteger(n) && n > 0 && n <= MOST_CHOICES
  return isCount ? n : 1
}

/** OpenAI's limit. Gemini allows fewer choices and refuses more itself. */
const MOST_CHOICES = 128
