import { object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'

export function bedrockGuardrailsGuard<Policies>(policies: Schema<Policies>) {
  return object({
    identifier: string({ min: 1, max: 256 }).describe('Id or ARN of the guardrail.'),
    version: string({ min: 1, max: 256 }).describe('Its version, such as `1` or `DRAFT`.'),
    region: string(
      { min: 1, max: 256 },
      { pattern: /^[a-z0-9-]+$/, expected: 'a region such as `us-east-1`' },
    ).describe('The region that it is in.'),
    policies: policies.optional().describe('How the API is reached, and with which credentials.'),
  }).describe('Asks a guardrail of Amazon Bedrock; what it anonymizes is masked, what it blocks is refused.')
}

export type BedrockGuardrailsConfig = Output<ReturnType<typeof bedrockGuardrailsGuard<unknown>>>
