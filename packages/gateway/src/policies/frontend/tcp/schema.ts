import { definePolicy } from '../../../schema/define-policy.ts'
import { keepalive } from '../../../schema/fields/keepalive.ts'
import { integer } from '../../../schema/fields/values.ts'
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
    maxConnections: integer({ min: 1, max: 10_000_000 })
      .optional()
      .describe('The most connections that each port has open at a time, over all workers. No limit when left out.'),
  }).describe('Finds dead connections of clients, and limits how many are open.'),
})

export type FrontendTcpConfig = Output<typeof tcp.schema>
