import { definePolicy } from '../../../schema/define-policy.ts'
import { keepalive } from '../../../schema/fields/keepalive.ts'
import { integer } from '../../../schema/fields/values.ts'
import { object } from '../../../schema/kit.ts'

export const tcp = definePolicy({
  name: 'tcp',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  always: true,
  schema: object({
    keepalive: keepalive().prefault({}).describe('TCP keepalive: probes that detect dead connections.'),
    maxConnections: integer({ min: 1, max: 10_000_000 })
      .optional()
      .describe('Largest number of open connections for each port, over all workers. No limit when unset.'),
  }).describe('Detects dead client connections, and limits the number of open connections.'),
})
