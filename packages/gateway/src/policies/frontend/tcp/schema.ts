import { definePolicy } from '../../../schema/define-policy.ts'
import { keepalive } from '../../../schema/fields/keepalive.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'

export const tcp = definePolicy({
  name: 'tcp',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  always: true,
  schema: object({
    keepalive: keepalive().prefault({}).describe('Probes that find dead connections.'),
  }).describe('Connections from clients.'),
})

export type FrontendTcpConfig = Output<typeof tcp.schema>
