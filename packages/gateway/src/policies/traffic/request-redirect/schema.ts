import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { authorityChange, pathChange } from '../../../schema/fields/url-parts.ts'
import { enumeration, statusCode } from '../../../schema/fields/values.ts'

export const requestRedirect = definePolicy({
  name: 'requestRedirect',
  section: 'traffic',
  attach: ['route'],
  merge: 'replace',
  traceKey: 'requestRedirect',
  fileOnly: true,
  schema: object({
    scheme: enumeration(['http', 'https'])
      .optional()
      .describe('Scheme of the new URL; the scheme of the request when unset.'),
    authority: authorityChange()
      .optional()
      .describe('Authority of the new URL; the authority of the request when unset.'),
    path: pathChange().optional().describe('Path of the new URL; the query stays.'),
    status: statusCode([301, 302, 303, 307, 308]).prefault(302).describe('Status code of the redirect.'),
  }).describe(
    'Redirects the client to another URL. `Location` is absolute; the default port of the scheme is omitted.',
  ),
})

export type RequestRedirectConfig = Output<typeof requestRedirect.schema>
