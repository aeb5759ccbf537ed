import { authorization } from '../../../schema/fields/auth/authorization.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import type { Output } from '../../../schema/kit.ts'

export const networkAuthorization = definePolicy({
  name: 'networkAuthorization',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'join',
  decides: true,
  schema: authorization('network').describe(
    'Accepts or closes connections by CEL expressions over `source`. A connection that is not allowed is closed without a response, before TLS and HTTP. The rules of all attached policies are combined.',
  ),
})

export type NetworkAuthorizationConfig = Output<typeof networkAuthorization.schema>
