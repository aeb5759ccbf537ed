import { object } from '../../../schema/kit.ts'
import type { Output, Schema } from '../../../schema/kit.ts'
import { string } from '../../../schema/fields/values.ts'

export function bedrockGuardrailsGuard<Policies>(policies: Schema<Policies>) {
  return object({
    identifier: string({ min: 1, max: 256 }).describe('Id or ARN of the guardrail.'),
    version: string({ min: 1, max: 256 }).describe('Version of the guardrail, such as `1` or `DRAFT`.'),
    region: string(
      { min: 1, max: 256 },
      { pattern: /^[a-z0-9-]+$/, expected: 'a region such as `us-east-1`' },
    ).describe('Region of the guardrail.'),
    policies: policies.optional().describe('Connection settings and credentials.'),
  }).describe('Calls an Amazon Bedrock guardrail. Text that it anonymizes is masked, text that it blocks is denied.')
}

export type BedrockGuardrailsConfig = Output<ReturnType<typeof bedrockGuardrailsGuard<unknown>>>
