import type { DoctorCheck } from '../check.ts'
import { checkServers } from '../check-servers.ts'

/** Checks that the collectors of traces, logs and metrics accept connections. */
export const collectors: DoctorCheck = {
  name: 'collectors',
  summary: 'collectors of traces, logs and metrics accept connections',
  run: (subject) => checkServers(subject, ['collector']),
}
