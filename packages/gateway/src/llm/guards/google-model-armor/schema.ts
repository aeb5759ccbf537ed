import { object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'

export function googleModelArmorGuard<Policies>(policies: Schema<Policies>) {
  return object({
    templateId: string({ min: 1, max: 256 }).describe('Id of the template that says what is looked for.'),
    projectId: string({ min: 1, max: 256 }).describe('The project that the template is in.'),
    location: string({ min: 1, max: 256 }, { pattern: /^[a-z0-9-]+$/, expected: 'a location such as `us-central1`' })
      .prefault('us-central1')
      .describe('Where the template is.'),
    policies: policies.optional().describe('How the API is reached, and with which credentials.'),
  }).describe('Asks Google Model Armor; a text in which a filter finds something is refused.')
}

export type GoogleModelArmorConfig = Output<ReturnType<typeof googleModelArmorGuard<unknown>>>
