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
        'What happens to `x-forwarded-*` headers from peers that are not trusted: `Replace` overwrites them, `Append` trusts and extends them. `Preserve` forwards the headers of every peer unchanged.',
      ),
    trustedProxies: list(cidr().describe('An address range.'), { max: 64 })
      .prefault([])
      .describe('Peers whose `x-forwarded-*` headers are trusted and extended.'),
  }).describe('Controls the `x-forwarded-*` headers that backends get.'),
})

export type ForwardedHeadersConfig = Output<typeof forwardedHeaders.schema>
