import { definePolicy } from '../../../schema/define-policy.ts'
import { condition } from '../../../schema/fields/expression.ts'
import { boolean, byteSize, duration, string } from '../../../schema/fields/values.ts'
import { fileOnly, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'

const smallest = 64 * 1024
const largest = 256 * 1024 * 1024

export const recorder = definePolicy({
  name: 'recorder',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  schema: object({
    enabled: boolean().prefault(true).describe('Whether requests are recorded at all.'),
    passedSize: byteSize({ min: smallest, max: largest })
      .prefault('2Mi')
      .describe(
        'Memory of each worker for requests that passed, rounded up to a power of two; one takes about 200 bytes. The oldest make room for the newest.',
      ),
    notableSize: byteSize({ min: smallest, max: largest })
      .prefault('2Mi')
      .describe(
        'The same, apart, for those that were denied, limited, failed or slow, whose endpoint was evicted, or whose client left, with their heads and steps: one takes about 1 KiB.',
      ),
    slow: duration({ min: '1ms' })
      .prefault('10s')
      .describe('A request is slow when the answer of its backend begins later than this.'),
    sampling: condition('log')
      .optional()
      .describe(
        'Requests that make this expression true at their end are kept with heads and steps, though they passed; one that fails is not true.',
      ),
    retention: duration({ min: '1s' })
      .optional()
      .describe(
        'Records of requests that began longer ago than this are not shown any more; without it, all that are kept are.',
      ),
    bodies: object({
      when: condition('request').describe(
        'Bodies of requests for which this is true are kept, such as `proxy.route.name == "chat"`; it is asked after all policies.',
      ),
      maxSize: byteSize({ min: 1, max: 32 * 1024 })
        .prefault('16Ki')
        .describe('Of each body, this much from its beginning.'),
    })
      .optional()
      .describe('Keeps bodies too, of requests and answers, as far as they are text; none when unset.'),
    disk: fileOnly(
      object({
        folder: string({ min: 1, max: 4_096 }).describe('Path of a folder of its own, relative to the config file.'),
        maxSize: byteSize({ min: 1024 * 1024, max: 4 * 1024 * 1024 * 1024 - 1 })
          .prefault('64Mi')
          .describe('The most that its files take; the oldest are deleted.'),
      })
        .optional()
        .describe('Writes records to files too, which are read again after a restart.'),
    ),
  }).describe('Chooses which requests are recorded, and what each record contains.'),
})

export type RecorderConfig = Output<typeof recorder.schema>
