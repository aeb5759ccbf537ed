import { definePolicy } from '../../../schema/define-policy.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { cidr } from '../../../schema/fields/hosts.ts'
import { enumeration } from '../../../schema/fields/values.ts'

export const forwardedHeaders = definePolicy({
  name: 'forwardedHeaders',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  always: true,
  schema: object({
    mode: enumeration(['Replace', 'Append', 'Preserve'])
      .prefault('Replace')
      .describe(
        'What happens to the `x-forwarded-*` headers of peers that are not trusted: `Replace` writes them anew, `Append` believes and extends them, `Preserve` leaves the headers of every peer alone.',
      ),
    trustedProxies: list(cidr().describe('An address range.'), { max: 64 })
      .prefault([])
      .describe('Peers whose `x-forwarded-*` headers are believed and extended.'),
  }).describe('Says which forwarding headers backends see.'),
})

export type ForwardedHeadersConfig = Output<typeof forwardedHeaders.schema>
