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
      .describe('The authority (`Host`) that the backend sees; unset leaves it to `hostRewrite`.'),
    path: pathChange().optional().describe('The path that the backend sees; the query is kept.'),
  }).describe('Changes the host and the path of a request before it is sent to the backend.'),
})

export type UrlRewriteConfig = Output<typeof urlRewrite.schema>
