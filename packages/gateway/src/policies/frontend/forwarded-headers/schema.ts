import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { cidr } from '../../../schema/names.ts'
import { enumeration } from '../../../schema/values.ts'

export const forwardedHeaders = definePolicy({
  name: 'forwardedHeaders',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  always: true,
  fileOnly: true,
  schema: object({
    mode: enumeration(['Replace', 'Append', 'Preserve'])
      .prefault('Replace')
      .describe(
        'What happens to `x-forwarded-for` and `x-forwarded-proto` of peers that are not trusted: `Replace` writes them anew, `Append` adds the peer, `Preserve` leaves them alone.',
      ),
    trustedProxies: list(cidr().describe('An address range.'), { max: 64 })
      .prefault([])
      .describe('Peers whose `x-forwarded-*` headers are believed and extended.'),
  }).describe('Says which forwarding headers backends see.'),
})

export type ForwardedHeadersConfig = Output<typeof forwardedHeaders.schema>
