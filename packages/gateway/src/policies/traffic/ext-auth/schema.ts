import { conditionalPolicy } from '../../../schema/fields/conditional.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { extAuthFields, extAuthRules } from '../../../schema/fields/auth/ext-auth.ts'

export const extAuth = definePolicy({
  name: 'extAuth',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'extAuthz',
  decides: true,
  schema: conditionalPolicy(extAuthFields('request'), extAuthRules).describe(
    'Calls an external authorizer for each request, by gRPC unless `http` is set.',
  ),
})
