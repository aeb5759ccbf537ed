import { backendOfModels } from '../../schema/fields/references.ts'
import { duration, integer, number, string } from '../../schema/fields/values.ts'
import { object, type Output } from '../../schema/kit.ts'

/** The part of a response cache that finds answers to similar requests. */
export const semanticCache = () =>
  object({
    embeddings: object({
      backendRef: object({
        name: backendOfModels().describe('Name of an `ai` backend of the top-level `backends`.'),
      }).describe('The backend that is asked for embeddings; its policies apply.'),
      model: string({ min: 1, max: 256 }).describe('The embedding model, as a client of that backend would name it.'),
      dimensions: integer({ min: 1, max: 16_384 })
        .optional()
        .describe('Dimensions to ask for, if the model offers several. Fewer make lookups cheaper.'),
    }).describe('What computes the embeddings of the texts of users.'),
    threshold: number({ min: 0.5, max: 1 })
      .prefault(0.95)
      .describe('The least cosine similarity of two texts that may have the same answer.'),
    timeout: duration({ min: '1ms', max: '30s' })
      .prefault('1s')
      .describe('Time limit for each embedding; without one in time, the provider of the backend is asked.'),
    maxEntries: integer({ min: 1, max: 50_000 })
      .prefault(10_000)
      .describe(
        'Most answers that a request is compared with. When there are more, the least recently used goes first.',
      ),
    maxCharacters: integer({ min: 1, max: 100_000 })
      .prefault(2_000)
      .describe('Longest text of a user that is compared; embedding models ignore what is beyond their own limit.'),
  }).describe(
    'Also serves the answer to a request whose last user message is similar, while everything else is equal. Each worker compares with the answers in its own memory.',
  )

export type SemanticCacheConfig = Output<ReturnType<typeof semanticCache>>
