import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { model } from '../../../schema/fields/llm-providers.ts'

export const openaiKey = object({ model: model() })
  .optional()
  .describe('OpenAI, or with `host` any OpenAI-compatible server.')

export type OpenaiConfig = NonNullable<Output<typeof openaiKey>>
