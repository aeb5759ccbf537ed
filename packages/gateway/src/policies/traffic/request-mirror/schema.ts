import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { backendReference } from '../../../schema/fields/references.ts'
import { number } from '../../../schema/fields/values.ts'

const place = {
  backend: backendReference().describe('Destination of the copies: the name of a backend, or `host:port`.'),
  percentage: number({ min: 0, max: 100 }).prefault(100).describe('Percentage of requests that are copied.'),
}

export const requestMirror = definePolicy({
  name: 'requestMirror',
  section: 'traffic',
  attach: ['route'],
  merge: 'replace',
  fileOnly: true,
  schema: object({
    ...place,
    others: list(object(place).describe('Another destination.'), { min: 1, max: 15 })
      .optional()
      .describe('Further destinations, each with its own percentage.'),
  }).describe('Sends copies of requests, including bodies, to a second backend and ignores its responses.'),
})

export type RequestMirrorConfig = Output<typeof requestMirror.schema>
