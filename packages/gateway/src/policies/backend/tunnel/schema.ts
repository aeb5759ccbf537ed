import { definePolicy } from '../../../schema/define-policy.ts'
import { localForm, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { backendName, backendObjectReference } from '../../../schema/fields/references.ts'

export const tunnel = definePolicy({
  name: 'tunnel',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: object({
    backendRef: localForm(
      object({ name: backendName({ fixed: true }).describe('Name of a backend of the top-level `backends`.') }),
      backendObjectReference(),
    ).describe('The proxy. Its own `tcp`, `tls` and `auth` policies hold for the connection to it.'),
  }).describe('Reaches the backend through a proxy, by HTTP CONNECT.'),
})

export type TunnelConfig = Output<typeof tunnel.schema>
