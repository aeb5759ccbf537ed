import { object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'

export function googleModelArmorGuard<Policies>(policies: Schema<Policies>) {
  return object({
    templateId: string({ min: 1, max: 256 }).describe('Id of the Model Armor template.'),
    projectId: string({ min: 1, max: 256 }).describe('Google Cloud project of the template.'),
    location: string({ min: 1, max: 256 }, { pattern: /^[a-z0-9-]+$/, expected: 'a location such as `us-central1`' })
      .prefault('us-central1')
      .describe('Location of the template.'),
    policies: policies.optional().describe('Connection settings and credentials.'),
  }).describe('Calls Google Model Armor; text that matches a filter is denied.')
}

export type GoogleModelArmorConfig = Output<ReturnType<typeof googleModelArmorGuard<unknown>>>
