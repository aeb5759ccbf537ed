import { bool, number as anyNumber, oneOf, string as text } from '@portico/cel/declare'
import { condition, expression } from '../schema/fields/expression.ts'
import { byteSize, duration } from '../schema/fields/values.ts'
import { object, type Output } from '../schema/kit.ts'

/** The response cache of a model backend. */
export const responseCache = () =>
  object({
    ttl: duration({ min: '1s', max: '720h' }).describe('Time for which an answer is served from the cache.'),
    maxBytes: byteSize({ min: 1_048_576 })
      .prefault(67_108_864)
      .describe(
        'Memory of the cache in each worker, in bytes; the least recently used answers of the tenant that fills most of it go first. An answer of more than an eighth is not stored.',
      ),
    scope: expression('llmRequest', oneOf(bool, anyNumber, text))
      .optional()
      .describe(
        'Requests share answers only if this expression has the same value. When unset: the name of the API key, the user or the subject of the token, on the same route; otherwise the credential that the client sent. Requests without any, and those for which the expression fails or is empty, bypass the cache.',
      ),
    key: expression('llmRequest', oneOf(bool, anyNumber, text))
      .optional()
      .describe(
        'A value that is added to the key, for example a header that changes the answer. Requests for which the expression fails bypass the cache.',
      ),
    when: condition('llmRequest')
      .optional()
      .describe(
        'Which requests use the cache; `llmRequest` is the body as the client sent it. When unset: all but those with a temperature above 0 and no seed, audio output, `store`, or tools that the provider runs.',
      ),
  }).describe('Keeps answers of models, and serves equal requests from memory.')

export type ResponseCacheConfig = Output<ReturnType<typeof responseCache>>
