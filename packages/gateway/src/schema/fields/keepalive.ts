import { object } from '../kit.ts'
import { duration, integer } from './values.ts'

/** TCP keepalive, alike on both sides of the gateway. */
export function keepalive() {
  return object({
    retries: integer({ min: 1, max: 64 })
      .prefault(9)
      .describe('Number of unanswered probes after which the connection is closed.'),
    time: duration({ min: '1s' }).prefault('180s').describe('Idle time before the first probe.'),
    interval: duration({ min: '1s' }).prefault('180s').describe('Time between two probes.'),
  })
}
