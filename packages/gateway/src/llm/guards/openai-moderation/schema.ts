import { object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'

export function openAIModerationGuard<Policies>(policies: Schema<Policies>) {
  return object({
    model: string({ min: 1, max: 256 }).prefault('omni-moderation-latest').describe('The model that judges.'),
    policies: policies.optional().describe('How the API is reached, and with which key.'),
  }).describe('Asks the moderation API of OpenAI; a flagged text is refused.')
}

export type OpenAIModerationConfig = Output<ReturnType<typeof openAIModerationGuard<unknown>>>
