import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { duration, integer, string } from '../../../schema/fields/values.ts'

const percent = () => integer({ min: 0, max: 100 }).prefault(0)

/** The provider key `mock`, for config files only. */
export const mockModel = object({
  model: string({ min: 1, max: 256 })
    .prefault('mock')
    .describe('Model name in responses and in the list of models, whatever model the client requests.'),
  text: string({ min: 1, max: 65_536 })
    .optional()
    .describe('Text of responses, after the mark `[mock]`; when unset, the mock repeats the prompt.'),
  latency: duration({ max: '5m' }).prefault('0s').describe('Time before the first token.'),
  tokensPerSecond: integer({ min: 1, max: 100_000 })
    .optional()
    .describe('Rate of tokens after the first; all at once when unset.'),
  failures: object({
    rateLimited: percent().describe('Percentage of requests that get 429.'),
    retryAfter: duration({ max: '1h' })
      .optional()
      .describe('Value of `retry-after` in these 429 responses; no header when unset.'),
    unavailable: percent().describe('Percentage of requests that get 503.'),
    brokenStreams: percent().describe('Percentage of requests whose stream breaks off in the middle.'),
  })
    .prefault({})
    .describe(
      'Failures to simulate. At most one failure happens to a request, so the percentages should add up to at most 100.',
    ),
}).describe(
  'A provider without a model: the gateway responds by itself and marks the response. For first steps, examples and tests.',
)

export type MockConfig = Output<typeof mockModel>
