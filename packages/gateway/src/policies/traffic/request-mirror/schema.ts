import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { backendReference } from '../../../schema/fields/references.ts'
import { number } from '../../../schema/fields/values.ts'

const place = {
  backend: backendReference().describe('Where copies go: the name of a backend, or `host:port`.'),
  percentage: number({ min: 0, max: 100 }).prefault(100).describe('Share of the requests that are copied, in percent.'),
}

export const requestMirror = definePolicy({
  name: 'requestMirror',
  section: 'traffic',
  attach: ['route'],
  merge: 'replace',
  fileOnly: true,
  schema: object({
    ...place,
    others: list(object(place).describe('Another place for copies.'), { min: 1, max: 15 })
      .optional()
      .describe('Further places, each with a share of its own.'),
  }).describe('Sends a copy of requests, with their bodies, to a second backend and ignores its answers.'),
})

export type RequestMirrorConfig = Output<typeof requestMirror.schema>
