import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { model } from '../../../schema/fields/llm-providers.ts'

export const openaiKey = object({ model: model() })
  .optional()
  .describe('OpenAI, and with `host` any server that speaks its formats.')

export type OpenaiConfig = NonNullable<Output<typeof openaiKey>>
