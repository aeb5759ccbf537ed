import { definePolicy } from '../../../schema/define-policy.ts'
import { duration, integer } from '../../../schema/fields/values.ts'
import { object } from '../../../schema/kit.ts'

export const udp = definePolicy({
  name: 'udp',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  always: true,
  schema: object({
    idleTimeout: duration({ min: '100ms', max: '24h' })
      .prefault('60s')
      .describe('A session ends after this time without a datagram in either direction.'),
    maxSessions: integer({ min: 1, max: 1_000_000 })
      .prefault(16_384)
      .describe(
        'Largest number of sessions for each port, over all workers. Datagrams that would open another session are dropped.',
      ),
    maxSessionsPerAddress: integer({ min: 1, max: 1_000_000 })
      .prefault(1_024)
      .describe('Largest number of sessions of one client address for each port and worker.'),
  }).describe('Sessions of UDP listeners: when they end, and how many there may be.'),
})
