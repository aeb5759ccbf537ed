import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { authorityChange, pathChange } from '../../../schema/fields/url-parts.ts'

export const urlRewrite = definePolicy({
  name: 'urlRewrite',
  section: 'traffic',
  attach: ['route'],
  merge: 'replace',
  traceKey: 'urlRewrite',
  fileOnly: true,
  schema: object({
    authority: authorityChange()
      .optional()
      .describe('New authority (`Host`) of the request; when unset, `hostRewrite` decides.'),
    path: pathChange().optional().describe('New path of the request; the query stays.'),
  }).describe('Changes the host and the path of a request before it is sent to the backend.'),
})

export type UrlRewriteConfig = Output<typeof urlRewrite.schema>
