import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { model } from '../../../schema/fields/llm-providers.ts'

export const anthropicKey = object({ model: model() }).optional().describe('Anthropic.')

export type AnthropicConfig = NonNullable<Output<typeof anthropicKey>>
