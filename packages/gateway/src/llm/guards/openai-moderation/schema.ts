import { object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'

export function openAIModerationGuard<Policies>(policies: Schema<Policies>) {
  return object({
    model: string({ min: 1, max: 256 }).prefault('omni-moderation-latest').describe('The moderation model.'),
    policies: policies.optional().describe('Connection settings and API key.'),
  }).describe('Calls the OpenAI moderation API; a request with flagged text is denied.')
}

export type OpenAIModerationConfig = Output<ReturnType<typeof openAIModerationGuard<unknown>>>
