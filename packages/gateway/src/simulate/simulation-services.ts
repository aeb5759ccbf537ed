import { isIP } from 'node:net'
import type { CompileServices } from '../compile/index.ts'
import { checkServices } from '../compile/check.ts'
import { createCredentials } from '../credentials/credentials.ts'
import { Hops } from '@portico/http'
import {
  type AddressGuard,
  createAddressGuard,
  Endpoints,
  Hbone,
  Pools,
  type Resolver,
  ServiceAddresses,
} from '@portico/http/client'
import type { RequestContext } from '../pipeline/context/request-context.ts'
import { CLOSING } from '../pipeline/compiled/containment.ts'
import { ShapeKeepalive } from '../pipeline/run/shape-keepalive.ts'
import { createHttpDate } from '../state/clock.ts'
import type { Ir } from '../ir/resources.ts'
import { WorkerCache } from '../state/worker-cache.ts'
import type { AccessRecord } from '../telemetry/log/access-record.ts'
import type { TraceEvent } from '../telemetry/trace/trace-event.ts'
import { createSimulatedHub } from './simulated-hub.ts'
import { SimulatedCounters } from './simulated-counters.ts'
import { seededRandom } from './seeded-random.ts'
import { SimulatedUpstreams } from './upstreams.ts'
import type { VirtualTime } from './virtual-time.ts'
import type { World } from './world.ts'

/** The reports of the gateway about the request in progress. */
export interface Observations {
  access: AccessRecord | null
  /** The context of the request as the pipeline left it. */
  request: RequestContext | null
  events: TraceEvent[]
  /** Whether to trace requests. */
  isTraced: boolean
}

interface SimulationParts {
  ir: Ir
  world: World
  time: VirtualTime
  observed: Observations
  recorder: CompileServices['recorder']
}

/** The services of a worker that has a virtual clock, a seeded random source, empty counters and simulated upstreams. */
export function createSimulationServices({ ir, world, time, observed, recorder }: SimulationParts): {
  services: CompileServices
  upstreams: SimulatedUpstreams
  addresses: ServiceAddresses
  /** Starts the random source anew. */
  reseed(this: void, seed: number): void
} {
  const { deadlines, now } = time
  const counters = new SimulatedCounters(slotsFor(ir))
  const base = checkServices(counters).services
  const upstreams = new SimulatedUpstreams(world, deadlines)
  let draw = seededRandom(world.seed)
  const random = (): number => draw()
  const hops = new Hops('simulation')
  const pools = new Pools(deadlines, hops, undefined, upstreams.dial)
  const addresses = new ServiceAddresses()
  const shared = { random, kept: new WorkerCache(), monotonic: now, clock: now, log: base.log }
  const services: CompileServices = {
    ...base,
    ...shared,
    deadlines,
    hops,
    pools,
    addresses,
    counters,
    tables: counters,
    resolver: createWorldResolver(world),
    addressGuard: (options) => guardNames(createAddressGuard(options), upstreams),
    hbone: new Hbone({ member: NO_MEMBER, pools, connectTimeoutMs: 5_000, idleTimeoutMs: 60_000 }),
    endpoints: new Endpoints({ counters, random, monotonic: now, evicted() {} }, endpointsFor(ir)),
    upstream: { connectTimeoutMs: 10_000, poolIdleTimeoutMs: 90_000, poolMaxIdle: 1000 },
    containment: CLOSING,
    seat: { own: 0, all: 1 },
    now,
    httpDate: createHttpDate(now),
    identity: { podName: 'simulation', namespace: 'default', gateway: 'default' },
    accessLog: (record) => void (observed.access = record),
    recorder,
    tracer: {
      armed: true,
      claim(rx) {
        observed.request = rx
        return observed.isTraced ? (event) => void observed.events.push(event) : null
      },
    },
    shapeKeepalive: new ShapeKeepalive(),
    hub: createSimulatedHub({ log: base.log, clock: now, upstreams }),
    credentials: createCredentials({
      ...shared,
      environment: world.env,
      fetch: (input) => {
        upstreams.unknown('token', input instanceof Request ? input.url : String(input))
        return Promise.reject(new TypeError('a simulation asks no token endpoints'))
      },
    }),
  }
  return { services, upstreams, addresses, reseed: (seed) => (draw = seededRandom(seed)) }
}

/** Names have the addresses of the world. A name without addresses stands for itself, and the world knows it by name. */
function createWorldResolver({ hosts }: World): Resolver {
  const names = new Map<string, readonly string[]>(Object.entries(hosts))
  const addressesOf = (host: string): readonly string[] => {
    const known = names.get(host)
    if (known !== undefined) return known
    const own = [host]
    names.set(host, own)
    return own
  }
  return {
    get(host) {
      const addresses = addressesOf(host)
      return addresses.length === 0 ? null : addresses
    },
    resolve(host, done) {
      const addresses = addressesOf(host)
      if (addresses.length > 0) done(null, addresses)
      else done(new Error('the world has no address of this name'), [])
    },
    close() {},
  }
}

/**
 * Wraps the address guard: without DNS, a host name stands for its own address, and the guard cannot judge it. The
 * outcome is then unknown, unless the guard denies the port.
 */
function guardNames(guard: AddressGuard, upstreams: SimulatedUpstreams): AddressGuard {
  return (address, port) => {
    if (isIP(address) === 0 && guard(PUBLIC_ADDRESS, port) === null) upstreams.unknown('name', address)
    return guard(address, port)
  }
}

/** A public address, which address guards allow by default. */
const PUBLIC_ADDRESS = '8.8.8.8'

/** Counters for every limit and address of a config; the table of a process would be slow to create for each test. */
function slotsFor({ policies, backends }: Ir): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2_048, SLOTS_PER_PART * (policies.length + backends.length))))
}

const SLOTS_PER_PART = 16

/**
 * A simulation needs few slots for endpoints, which are allocated at once: the addresses of backends, and names from
 * clients.
 */
function endpointsFor({ backends }: Ir): number {
  return Math.max(256, 4 * backends.length)
}

/** A simulated gateway is in no mesh. */
const NO_MEMBER = { credentials: () => null, problem: () => null, peerProblem: () => '' }
