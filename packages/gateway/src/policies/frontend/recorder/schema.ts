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
    enabled: boolean().prefault(true).describe('Whether requests are recorded.'),
    passedSize: byteSize({ min: smallest, max: largest })
      .prefault('2Mi')
      .describe(
        'Memory of each worker for records of requests that passed, rounded up to a power of two. A record takes about 200 bytes. New records replace the oldest.',
      ),
    notableSize: byteSize({ min: smallest, max: largest })
      .prefault('2Mi')
      .describe(
        'Memory of each worker for records of requests that were denied, rate limited, failed or slow, whose endpoint was evicted, or whose client disconnected. These records have headers and steps and take about 1 KiB each.',
      ),
    slow: duration({ min: '1ms' })
      .prefault('10s')
      .describe('A request is slow when its backend takes longer than this to begin the response.'),
    sampling: condition('log')
      .optional()
      .describe(
        'Also records headers and steps of passed requests for which this expression is true at their end. An expression that fails is false.',
      ),
    retention: duration({ min: '1s' })
      .optional()
      .describe('Records of requests that began longer ago than this are hidden; when unset, no record is hidden.'),
    bodies: object({
      when: condition('request').describe(
        'Records bodies of requests for which this expression is true, such as `proxy.route.name == "chat"`. It is evaluated after all policies.',
      ),
      maxSize: byteSize({ min: 1, max: 32 * 1024 })
        .prefault('16Ki')
        .describe('Number of bytes that are recorded from the beginning of each body.'),
    })
      .optional()
      .describe('Also records bodies of requests and responses that are text; no bodies when unset.'),
    disk: fileOnly(
      object({
        folder: string({ min: 1, max: 4_096 }).describe(
          'Path of a folder for this gateway only, relative to the config file.',
        ),
        maxSize: byteSize({ min: 1024 * 1024, max: 4 * 1024 * 1024 * 1024 - 1 })
          .prefault('64Mi')
          .describe('Largest size of all files together; the oldest are deleted.'),
      })
        .optional()
        .describe('Also writes records to files, so that they survive a restart.'),
    ),
  }).describe('Chooses which requests are recorded, and what each record contains.'),
})

export type RecorderConfig = Output<typeof recorder.schema>
