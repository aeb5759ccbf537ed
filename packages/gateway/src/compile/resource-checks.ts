import { unitFaults, canRun } from './check.ts'
import * as features from './load-features.ts'
import { applyChange, changeBetween } from '../ir/change.ts'
import { backendsNamedIn } from '../ir/named-backends.ts'
import type { AttachedPolicy, Backend, Ir, Route } from '../ir/resources.ts'
import type { ConfigFault } from '../pipeline/compiled/config-fault.ts'
import type { UnitFault } from '../pipeline/compiled/containment.ts'
import { loadablesIn } from '../pipeline/compiled/later.ts'
import { type QuarantinedResource, quarantinedBy } from '../ir/quarantine.ts'
import { isConnectionRule } from '../policies/traffic/authorization/admit-connection.ts'
import { backendSteps, trafficSteps } from '../policies/order.ts'
import { exposeOauth } from '../ir/expose-oauth.ts'
import type { SharedCells, SharedCounters } from '@portico/http/client'
import { createKeyedTable } from '../state/keyed-budgets.ts'
import type { KeyedTables } from '../state/keyed-tables.ts'

export type { QuarantinedResource } from '../ir/quarantine.ts'
export { readUnit } from '../ir/quarantine.ts'

/** A path inside the checked resource, and the problem at that path. */
export interface CheckFault {
  path: readonly (string | number)[]
  message: string
}

/** Compiles resources as data planes do, one at a time, so that translation finds every fault that they would find. */
export interface ResourceChecks {
  /** Faults of one policy, independent of its attachment; `quarantineFinder` finds the others. */
  policy(section: 'frontend' | 'traffic' | 'backend', name: string, config: unknown): CheckFault[]
  /** Faults of a backend with its inline policies. */
  backend(backend: Backend, policies: readonly AttachedPolicy[]): CheckFault[]
  /** Whether a rule of `authorization` can be evaluated for connections without HTTP. */
  isConnectionRule(expression: string): boolean
  quarantineFinder(): QuarantineFinder
}

/**
 * Finds the resources that data planes quarantine in the configs of one Gateway; for a similar config, only the
 * differences are checked.
 */
export interface QuarantineFinder {
  next(ir: Ir): QuarantinedResource[]
}

/** Loads the code of every feature first, because the features that a resource needs are not known in advance. */
export async function loadResourceChecks(): Promise<ResourceChecks> {
  for (const [, part] of [features, trafficSteps, backendSteps].flatMap(loadablesIn)) await part.load()
  return CHECKS
}

const CHECKS: ResourceChecks = {
  policy(section, name, config) {
    const policy: AttachedPolicy = {
      key: 'policy',
      target: section === 'backend' ? { kind: 'backend', key: OWN } : { kind: 'gateway' },
      frontend: null,
      traffic: null,
      phase: 'PostRouting',
      backend: null,
      [section]: { [name]: config },
    }
    return faultsOf({ backend: PLAIN, policies: [policy] }, config)
  },
  backend: (backend, policies) => faultsOf({ backend, policies }, backend),
  isConnectionRule,
  quarantineFinder: () => new Finder(),
}

class Finder implements QuarantineFinder {
  #ir: Ir | null = null
  #faults: readonly UnitFault[] = []

  next(ir: Ir): QuarantinedResource[] {
    const change = this.#ir === null ? null : changeBetween(this.#ir, ir)
    const changed = this.#ir === null || change === null ? null : applyChange(this.#ir, change)
    const isFine = changed !== null && this.#faults.length === 0 && canRun(changed, new Room(), 1)
    this.#faults = isFine ? [] : unitFaults(ir, new Room())
    this.#ir = ir
    return quarantinedBy(ir, this.#faults)
  }
}

/** Compiles a config of one route to one backend. */
function faultsOf(
  { backend, policies }: { backend: Backend; policies: readonly AttachedPolicy[] },
  checked: unknown,
): CheckFault[] {
  const named = new Set([...policies, backend].flatMap(backendsNamedIn))
  named.delete(backend.key)
  const others = [...named].map((key): Backend => ({ ...PLAIN, key, name: key }))
  const route: Route = { ...ROUTE, backends: [{ key: 'entry', backend: backend.key, weight: 1 }] }
  const ir: Ir = { ...FRAME, routes: [route], backends: [backend, ...others], policies: [...policies] }
  exposeOauth(ir)
  const faults = new Map<string, CheckFault>()
  for (const { fault } of unitFaults(ir, new Room())) {
    const found = { path: pathIn(checked, fault), message: fault.message }
    faults.set(JSON.stringify(found), found)
  }
  return [...faults.values()]
}

function pathIn(checked: unknown, { part, path }: ConfigFault): (string | number)[] {
  const found = part === null ? null : pathTo(part, checked)
  return found === null ? [] : [...found, ...path]
}

function pathTo(part: object, value: unknown): (string | number)[] | null {
  if (value === part) return []
  if (typeof value !== 'object' || value === null) return null
  for (const [name, child] of Object.entries(value)) {
    const rest = pathTo(part, child)
    if (rest !== null) return [Array.isArray(value) ? Number(name) : name, ...rest]
  }
  return null
}

/** Unlimited room; translation divides the real room among all limits of a Gateway. */
class Room implements SharedCounters, KeyedTables {
  cells(): SharedCells {
    return CELLS
  }

  keyed(): SharedArrayBuffer {
    return TABLE
  }

  keyTable(): null {
    return null
  }
}

const CELLS: SharedCells = { use: () => new BigInt64Array(new SharedArrayBuffer(48)) }
const TABLE = createKeyedTable(1)

const OWN = 'backend/own'
/** A host with all the properties that cloud credentials derive from a host. */
const PLAIN: Backend = {
  key: OWN,
  name: OWN,
  target: { kind: 'static', host: 'bedrock-runtime.us-east-1.amazonaws.com', port: 443 },
}
const ROUTE: Omit<Route, 'backends'> = {
  key: 'route',
  listener: 'listener',
  name: 'route',
  rule: '',
  labels: {},
  hostnames: [],
  matches: [{ path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }],
}
const FRAME: Pick<Ir, 'binds' | 'listeners'> = {
  binds: [{ key: 'bind', port: 80, address: '' }],
  listeners: [{ key: 'listener', bind: 'bind', name: 'listener', hostname: '', protocol: 'HTTP', tls: null }],
}
