import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { authorityChange, pathChange } from '../../../schema/fields/url-parts.ts'

export const urlRewrite = definePolicy({
  name: 'urlRewrite',
  section: 'backend',
  attach: ['route', 'backend'],
  merge: 'replace',
  fileOnly: true,
  schema: object({
    authority: authorityChange()
      .optional()
      .describe('New authority (`Host`) of the request; when unset, policies of the route decide.'),
    path: pathChange().optional().describe('New path of the request; the query stays.'),
  }).describe('Changes the host and the path of requests to one backend.'),
})

export type BackendUrlRewriteConfig = Output<typeof urlRewrite.schema>
