import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { model, region, short } from '../../../schema/fields/llm-providers.ts'
import { string } from '../../../schema/fields/values.ts'

export const bedrockKey = object({
  region: region('us-east-1').describe('Region of the models.'),
  model: model(),
  guardrail: object({
    identifier: string(short).describe('Id or ARN of the guardrail.'),
    version: string(short).describe('Version of the guardrail.'),
  })
    .optional()
    .describe('Bedrock guardrail that Bedrock applies to each chat request.'),
})
  .optional()
  .describe('Amazon Bedrock.')

export type BedrockConfig = NonNullable<Output<typeof bedrockKey>>
