import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { BroadcastChannel, type ResourceLimits, setEnvironmentData } from 'node:worker_threads'
import { Gateway } from '../../process/config/gateway.ts'
import type { Ir } from '../../ir/resources.ts'
import { loadConfig } from '../../sources/file.ts'
import { Supervisor } from '../../process/workers/supervisor.ts'
import { workerInThisThread, workerThreads } from '../../process/workers/worker-channel.ts'
import { parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { createLogger } from '../../telemetry/log/logger.ts'
import { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import { builtWorker } from '../shipped-program.ts'
import type { Fate } from './mortal-worker.ts'
import { WORKER_MODULE } from './mortal-worker-config.ts'

export interface FleetOptions {
  workers: number
  resourceLimits?: ResourceLimits
  /** Workers that can be told to die when left out. */
  entry?: URL
  /** Whether the only worker runs in the calling thread, where a test cannot tell it to die. */
  isOneThread?: boolean
}

/** A supervisor with its gateway in this thread, not started. Its workers run the built program. */
export function newFleet({ workers, resourceLimits, entry, isOneThread = false }: FleetOptions) {
  setEnvironmentData(WORKER_MODULE, builtWorker())
  const filter = parseLogFilter('warn')
  assert.ok(filter.ok)
  const lines: string[] = []
  const logger = createLogger({ filter: filter.value, format: 'text', write: (line) => lines.push(line) })
  const log = logger.child('main')
  const collector = new Collector()
  const supervisor = new Supervisor({
    workers,
    startWorker: isOneThread
      ? workerInThisThread
      : workerThreads(entry ?? new URL('./mortal-worker.ts', import.meta.url), resourceLimits),
    log,
    mcpLog: logger.child('mcp'),
    collector,
    ledger: () => null,
    settings: {
      logFilter: 'off',
      logFormat: 'text',
      lookupFamily: 'Auto',
      identity: { podName: 'test', namespace: 'default', gateway: 'default' },
      upstream: { connectTimeoutMs: 10_000, poolIdleTimeoutMs: 90_000, poolMaxIdle: 100 },
      mesh: null,
      ledger: null,
      redis: null,
      reusePort: !isOneThread,
    },
  })
  const gateway = new Gateway({
    supervisor,
    log,
    collector,
    ipv6: true,
    sessionKeys: () => ({ keys: ['5e'.repeat(32)] }),
  })
  return { supervisor, gateway, collector, logged: () => lines.join('') }
}

function load(config: object): Ir {
  const loaded = loadConfig(JSON.stringify(config), { file: 'test.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok)
  return loaded.ir
}

/** Started, and ended with the test. */
export async function useFleet(t: TestContext, options: FleetOptions) {
  const fleet = newFleet(options)
  const channel = new BroadcastChannel('portico-mortal-worker')
  t.after(async () => {
    channel.close()
    await fleet.supervisor.stop()
  })
  assert.equal(await fleet.supervisor.start(), null)
  return {
    ...fleet,
    channel,
    tell: (fate: Fate) => channel.postMessage(fate),
    /** Makes a config live. */
    async apply(config: object): Promise<void> {
      assert.deepEqual(await fleet.gateway.apply(load(config)), [])
    },
    load,
    port: () => fleet.gateway.ports['bind/0']!,
    restarts: () => Number(/^portico_worker_restarts_total (\d+)$/m.exec([...fleet.collector.render()].join(''))![1]),
  }
}
