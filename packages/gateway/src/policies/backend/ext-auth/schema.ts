import { conditionalPolicy } from '../../../schema/fields/conditional.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { extAuthFields, extAuthRules } from '../../../schema/fields/auth/ext-auth.ts'

export const extAuth = definePolicy({
  name: 'extAuth',
  section: 'backend',
  attach: ['route', 'backend'],
  merge: 'replace',
  schema: conditionalPolicy(extAuthFields('backend'), extAuthRules).describe(
    'Calls an external authorizer for each attempt to call one backend, by gRPC unless `http` is set.',
  ),
})
