import { bool, number as anyNumber, oneOf, string as text } from '@portico/cel/declare'
import { condition, expression } from '../schema/fields/expression.ts'
import { boolean, byteSize, duration, integer } from '../schema/fields/values.ts'
import { semanticCache } from './semantic/schema.ts'
import { needsSetting, object, type Output } from '../schema/kit.ts'

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
    replay: object({
      eventsPerSecond: integer({ min: 1, max: 10_000 }).describe('Events that a stored stream sends in a second.'),
      maxDuration: duration({ max: '1m' })
        .prefault('10s')
        .describe('Longest time from the first event to the last one. Streams that would take longer are sent faster.'),
    })
      .optional()
      .describe('Pace at which stored streams are sent. When unset: all events at once.'),
    semantic: semanticCache().optional(),
    shared: needsSetting(
      object({
        maxBytes: byteSize({ min: 1_048_576 })
          .prefault(268_435_456)
          .describe(
            'Memory of this cache in Redis, in bytes. The oldest answers of the tenant that fills most of it go first; answers of more than an eighth, or of about a megabyte, stay in the memory of the worker.',
          ),
        encrypt: boolean()
          .prefault(false)
          .describe(
            'Encrypts answers with the session key, which all gateways must have in common: `SESSION_KEY` or `config.session.keyFile`. Without it, answers are plain text in Redis.',
          ),
      })
        .optional()
        .describe(
          'Shares answers with all workers and with other gateways, in the Redis of `config.stores.redis`. While Redis does not answer, requests go on without it.',
        ),
      ...['config', 'stores', 'redis'],
    ),
  }).describe('Keeps answers of models, and serves equal requests from memory.')

export type ResponseCacheConfig = Output<ReturnType<typeof responseCache>>
