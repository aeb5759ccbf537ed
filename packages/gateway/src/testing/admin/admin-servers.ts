import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type RunningServers, type ServersOptions, startServers } from '../../admin/servers.ts'
import { AdminCredentials } from '../../admin/credentials.ts'
import { noPages } from '../../admin/ui/page-source.ts'
import { noBacktests, noCapsules } from './simulation-sources.ts'
import { noCaches } from './cache-source.ts'
import { configOf } from './config-source.ts'
import { noHistory } from './metrics-source.ts'
import { noRehearsals } from './no-rehearsals.ts'
import { questionsOf } from './question-source.ts'
import { requestsOf } from './requests-source.ts'

/** Options of an admin server without a gateway; a test replaces the sources that it is about. */
export const NOTHING_BEHIND: ServersOptions = {
  addresses: { admin: '127.0.0.1:0', stats: 'off', readiness: 'off' },
  credentials: new AdminCredentials(null),
  metrics: () => [],
  readiness: () => ({ draining: false, pending: [] }),
  silentWorkers: () => Promise.resolve([]),
  configDump: () => ({}),
  logFilter: () => 'info',
  setLogFilter: () => null,
  requests: requestsOf(),
  trace: { isFull: true, check: () => null, watch: () => () => {} },
  quit: () => {},
  config: configOf(),
  backtests: noBacktests,
  capsules: noCapsules,
  questions: questionsOf(),
  history: noHistory(),
  usage: null,
  keys: null,
  caches: noCaches,
  rehearsals: noRehearsals,
  pages: noPages,
}

/** `at` is the address of the admin server. They go away with the test. */
export async function useAdmin(
  t: TestContext,
  options: Partial<ServersOptions> = {},
): Promise<{ running: RunningServers; at: string }> {
  const started = await startServers({ ...NOTHING_BEHIND, ...options })
  assert.ok(started.ok, JSON.stringify(started))
  t.after(() => started.value.close())
  return { running: started.value, at: started.value.addresses.admin[0] ?? '' }
}
