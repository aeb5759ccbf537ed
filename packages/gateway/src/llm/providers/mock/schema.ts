import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { duration, integer, string } from '../../../schema/fields/values.ts'

const percent = () => integer({ min: 0, max: 100 }).prefault(0)

/** The provider key `mock`, for config files only. */
export const mockModel = object({
  model: string({ min: 1, max: 256 })
    .prefault('mock')
    .describe('What it calls itself in answers and in the list of models, whatever model is asked for.'),
  text: string({ min: 1, max: 65_536 })
    .optional()
    .describe('What it says, behind the mark `[mock]`; when unset it repeats what was said to it.'),
  latency: duration({ max: '5m' }).prefault('0s').describe('Time before the first token.'),
  tokensPerSecond: integer({ min: 1, max: 100_000 })
    .optional()
    .describe('How fast tokens follow one another; all at once when unset.'),
  failures: object({
    rateLimited: percent().describe('Percentage of requests that get 429.'),
    retryAfter: duration({ max: '1h' }).optional().describe('`retry-after` of these; none when unset.'),
    unavailable: percent().describe('Percentage of requests that get 503.'),
    brokenStreams: percent().describe('Percentage of requests whose stream breaks off in the middle.'),
  })
    .prefault({})
    .describe('What goes wrong, for rehearsals. One draw decides, in this order: their sum counts up to 100.'),
}).describe('No model at all: it answers by itself and says so, for first steps, examples and rehearsals.')

export type MockConfig = Output<typeof mockModel>
