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
      '`Auto` sends the hostname of the destination as `Host`; `None` sends what the client asked for.',
    ),
  }).describe(
    'Chooses the `Host` that backends see. Unset, it is `Auto` for backends with a hostname and `None` for addresses. Ignored where `urlRewrite` sets a host.',
  ),
})

export type HostRewriteConfig = Output<typeof hostRewrite.schema>
