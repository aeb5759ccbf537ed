import { authorization as rules } from '../../../schema/fields/auth/authorization.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import type { Output } from '../../../schema/kit.ts'

export const authorization = definePolicy({
  name: 'authorization',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'join',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'authorization',
  decides: true,
  schema: rules('request').describe(
    'Allows or denies requests by CEL expressions; denied requests get 403. The rules of all attached policies are combined.',
  ),
})

export type AuthorizationConfig = Output<typeof authorization.schema>
