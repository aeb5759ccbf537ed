import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { model } from '../../../schema/fields/llm-providers.ts'

export const geminiKey = object({ model: model() }).optional().describe('Google Gemini API.')

export type GeminiConfig = NonNullable<Output<typeof geminiKey>>
