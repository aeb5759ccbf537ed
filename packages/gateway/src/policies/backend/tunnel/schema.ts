import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { namedBackendReference } from '../../../schema/fields/references.ts'

export const tunnel = definePolicy({
  name: 'tunnel',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: object({
    backendRef: namedBackendReference().describe(
      'The proxy. Its own `tcp`, `tls` and `auth` policies hold for the connection to it.',
    ),
  }).describe('Reaches the backend through a proxy, by HTTP CONNECT.'),
})

export type TunnelConfig = Output<typeof tunnel.schema>
