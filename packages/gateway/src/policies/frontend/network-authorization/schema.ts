import { authorization } from '../../../schema/fields/auth/authorization.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import type { Output } from '../../../schema/kit.ts'

export const networkAuthorization = definePolicy({
  name: 'networkAuthorization',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'join',
  schema: authorization('network').describe(
    'Decides by CEL expressions over `source` which connections are accepted; others are closed without a response, before TLS and HTTP. Rules of all attachments count together.',
  ),
})

export type NetworkAuthorizationConfig = Output<typeof networkAuthorization.schema>
