import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { model, region } from '../../../schema/fields/llm-providers.ts'
import { string } from '../../../schema/fields/values.ts'

export const vertexaiKey = object({
  projectId: string(
    { min: 1, max: 256 },
    { pattern: /^[A-Za-z0-9.:_-]+$/, expected: 'the id of a Google Cloud project' },
  ).describe('Google Cloud project.'),
  region: region('global').describe('Location of the models: a region, `global`, `us` or `eu`.'),
  model: model(),
})
  .optional()
  .describe('Google Vertex AI: Claude, Gemini and other models.')

export type VertexaiConfig = NonNullable<Output<typeof vertexaiKey>>
