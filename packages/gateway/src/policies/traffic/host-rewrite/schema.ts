import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { enumeration } from '../../../schema/fields/values.ts'

export const hostRewrite = definePolicy({
  name: 'hostRewrite',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  schema: object({
    mode: enumeration(['Auto', 'None']).describe(
      "`Auto` sends the hostname of the destination as `Host`; `None` sends the client's `Host`.",
    ),
  }).describe(
    'Sets the `Host` header of requests to backends. When unset: `Auto` for backends with a hostname, `None` for addresses. Ignored where `urlRewrite` sets a host.',
  ),
})

export type HostRewriteConfig = Output<typeof hostRewrite.schema>
