import { WatchedRoom } from './alike-routes.ts'
import { checkAll, checkChange, type CompileServices } from './index.ts'
import { createCredentials } from '../credentials/credentials.ts'
import { fetchLater } from '../credentials/fetch-later.ts'
import type { ChangedIr } from '../ir/change.ts'
import type { Ir } from '../ir/resources.ts'
import type { Hub } from '../mcp/hub.ts'
import { ReceivedIdentity } from '../mesh/received-identity.ts'
import { Deadlines, Hops } from '@portico/http'
import { HandshakePasses } from '@portico/http/server'
import type { ConfigFault } from '../pipeline/compiled/config-fault.ts'
import { type Containment, FaultRecorder, STRICT, type UnitFault } from '../pipeline/compiled/containment.ts'
import { ShapeKeepalive } from '../pipeline/run/shape-keepalive.ts'
import { workerIndexCount } from '../state/connection-count.ts'
import {
  createAddressGuard,
  createResolver,
  Endpoints,
  Hbone,
  Pools,
  ServiceAddresses,
  type SharedCounters,
} from '@portico/http/client'
import type { KeyedTables } from '../state/keyed-tables.ts'
import { WorkerCache } from '../state/worker-cache.ts'
import { Reservations } from '../state/reservations.ts'
import { createTable, SharedTable } from '../state/shared-table.ts'
import type { Logger } from '../telemetry/log/logger.ts'
import { exportLimits } from '../telemetry/otlp/export-limits.ts'

/**
 * Compiles once in the main thread and discards the result: a config that workers could not run is rejected before they
 * get it. Only the room that the config reserves in `counters` stays.
 */
export function checkCompile(
  ir: Ir,
  counters: SharedCounters & KeyedTables = newCounters(),
  workers = 1,
): ConfigFault[] {
  return distinct(unitFaults(ir, counters, workers).map(({ fault }) => fault))
}

/** The same faults with the units that cannot run; one fault may affect many units. */
export function unitFaults(
  ir: Ir,
  counters: SharedCounters & KeyedTables = newCounters(),
  workers = 1,
): readonly UnitFault[] {
  const room = new WatchedRoom(counters)
  const recorder = new FaultRecorder()
  const { services, close } = checkServices(room, workers, recorder)
  try {
    checkAll(ir, services, room, recorder)
    return recorder.found
  } finally {
    close()
  }
}

/** Whether the parts that a change affects can run. `checkCompile` reports the faults, if any. */
export function canRun(changed: ChangedIr, counters: SharedCounters & KeyedTables, workers: number): boolean {
  const { services, close } = checkServices(counters, workers)
  try {
    checkChange(changed, services)
    return true
  } catch {
    return false
  } finally {
    close()
  }
}

/** Removes repeated faults: a faulty policy of the whole gateway fails in every route, but is reported once. */
export function distinct(faults: readonly ConfigFault[]): ConfigFault[] {
  const seen = new Map<object | null, Set<string>>()
  return faults.filter(({ part, path, message }) => {
    const messages = seen.get(part) ?? new Set<string>()
    const text = JSON.stringify([path, message])
    if (messages.has(text)) return false
    seen.set(part, messages.add(text))
    return true
  })
}

/** The services for compiling a config that will not run. */
export function checkServices(
  counters: SharedCounters & KeyedTables = newCounters(),
  workers = 1,
  containment: Containment = STRICT,
): { services: CompileServices; close: () => void } {
  const deadlines = new Deadlines()
  const hops = new Hops('')
  const pools = new Pools(deadlines, hops, () => ({ opened() {}, closed() {}, connectFailed() {}, fellSilent() {} }))
  // Room for names and endpoints is allocated at once, and a check needs none.
  const resolver = createResolver({ family: 'Auto', maxNames: 1 })
  const shared = { random: () => 0, kept: new WorkerCache(), monotonic: () => 0, clock: () => 0, log: silent }
  return {
    services: {
      deadlines,
      sessionKeys: () => ['00'.repeat(32)],
      resolver,
      addressGuard: createAddressGuard,
      hops,
      handshakes: new HandshakePasses(),
      pools,
      addresses: new ServiceAddresses(),
      mesh: new ReceivedIdentity(NO_TRUST, () => 0),
      streamPort: () => null,
      hbone: new Hbone({ member: NO_MEMBER, pools, connectTimeoutMs: 0, idleTimeoutMs: 0 }),
      endpoints: new Endpoints({ counters, random: () => 0, monotonic: () => 0, evicted() {} }, 1),
      upstream: { connectTimeoutMs: 0, poolIdleTimeoutMs: 0, poolMaxIdle: 0 },
      requestMetrics: () => () => {},
      callTimer: () => {},
      countActive: () => {},
      ledger: null,
      callouts: () => () => {},
      keyWithoutRoom: () => () => {},
      rehearsed: () => () => {},
      countShadow: () => {},
      picks: () => () => {},
      answerCounts: () => ({ count() {}, resized() {} }),
      ticketSecret: NO_SECRET,
      ...shared,
      counters,
      tables: counters,
      budgets: null,
      answers: null,
      seat: { own: null, all: workerIndexCount(workers) },
      containment,
      credentials: createCredentials({ ...shared, environment: process.env, fetch: fetchLater }),
      now: () => 0,
      identity: { podName: '', namespace: '', gateway: '' },
      httpDate: () => '',
      accessLog: () => {},
      recorder: { request() {}, connection() {}, malformed() {}, refused() {}, idOf: () => null },
      exports: {
        origin: () => ({ resource: {}, scope: { name: '', version: '' } }),
        counts: () => ({ sent() {}, dropped() {} }),
        limits: exportLimits,
        log: silent,
        busy: new Set(),
      },
      tracer: { armed: false, claim: () => null },
      shapeKeepalive: (unusedKeepalive ??= new ShapeKeepalive()),
      hub: NOBODY,
    },
    close() {
      resolver.close()
      deadlines.close()
    },
  }
}

/** Counters that no other process shares. */
function newCounters(): Reservations {
  return new Reservations(new SharedTable(createTable()))
}

const NO_SECRET = Buffer.alloc(32)
let unusedKeepalive: ShapeKeepalive | undefined

/** A hub that shares nothing, because nothing runs during a check. */
const NOBODY: Hub = {
  isRevoked: () => false,
  revoke: () => Promise.resolve(),
  targetSession: () => undefined,
  setTargetSession() {},
  listen: () => () => {},
  announce() {},
  whenChanged: () => () => {},
  send: () => Promise.resolve(false),
  process() {
    throw new Error('no process is started to check a config')
  },
}

const silent: Logger = {
  module: '',
  enabled: () => false,
  error() {},
  warn() {},
  info() {},
  debug() {},
  trace() {},
}

/** A config that will not run opens no tunnels. */
const NO_TRUST = { trustDomain: '', additionalTrustDomains: [] }
const NO_MEMBER = { credentials: () => null, problem: () => null, peerProblem: () => '' }
