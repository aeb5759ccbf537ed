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
  schema: rules('request').describe(
    'Decides by CEL expressions who may pass; answers 403. Rules of all attachments count together.',
  ),
})

export type AuthorizationConfig = Output<typeof authorization.schema>
