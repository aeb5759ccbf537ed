import type { QuarantineFinder } from '@portico/gateway/checks'
import type { Ir } from '@portico/gateway/ir'
import { type ChangedQuery, Graph } from './graph/graph.ts'
import type { FieldProblem } from './resources/fields.ts'
import { type Kind, kindOf, type RouteKind } from './resources/kinds.ts'
import { ResourceStore } from './resources/lookups.ts'
import { keyOf, type Resource } from './resources/resource.ts'
import type { Condition, Status, VerifiedRecord } from './resources/status.ts'
import { keepForce, recordOf, testsOf, verifiedCondition } from './translate/verified-policy.ts'
import type { Context, Query, TranslateSettings } from './translate/context.ts'
import { fieldProblems } from './translate/field-problems.ts'
import { backendStatus } from './translate/backends/backend.ts'
import { backendTrafficPolicyStatus } from './translate/policies/backend-traffic-policy.ts'
import { telemetryPolicyStatus } from './translate/policies/telemetry-policy.ts'
import { gatewayConfig, gatewayEndpoints } from './translate/gateways/gateway.ts'
import { partOfNamespace } from './translate/gateways/part-of-namespace.ts'
import { policyPlan } from './translate/policies/policy-plan.ts'
import { type PlaneMember, SharedPlanes } from './translate/gateways/shared-planes.ts'
import { membershipOf } from './translate/listeners/shared-data-plane.ts'
import { backendTlsPolicyStatus } from './translate/status/backend-tls-policy-status.ts'
import { filterStatus } from './translate/status/filter-status.ts'
import { policyVerification, type PolicyVerification } from './translate/policies/policy-verification.ts'
import { gatewaysOfPolicy, policyStatus } from './translate/status/policy-status.ts'
import { gatewayStatus, listenerSetStatus, xListenerSetStatus } from './translate/status/gateway-status.ts'
import { modelStatus } from './translate/status/model-status.ts'
import { poolStatus } from './translate/status/pool-status.ts'
import { routeStatus } from './translate/status/route-status.ts'
import { xBackendStatus } from './translate/status/x-backend-status.ts'
import { gatewayClassStatus } from './translate/listeners/gateway-class.ts'
import { indexTable } from './translate/indexes.ts'
import { type QuarantineNote, quarantineNotes, withQuarantine } from './translate/status/quarantine-status.ts'

/** The result of translation. */
export interface TranslationResult {
  /**
   * Configs by data plane: by `namespace/name` of the Gateway, or by `namespace/merged:name` of the GwParameters with which
   * several Gateways share one.
   */
  gateways: ReadonlyMap<string, Ir>
  /** Addresses of Services and InferencePools by data plane, then by the key of the backend: `10.0.0.7:8080`. */
  endpoints: ReadonlyMap<string, Readonly<Record<string, readonly string[]>>>
  /** Statuses by `Kind/namespace/name`, only of resources that are ours. */
  statuses: ReadonlyMap<string, Status>
  /** The key of the data plane of a Gateway: its own key when the Gateway shares none. */
  planeOf(gateway: string): string
  /** The Gateways of a shared data plane, the oldest first; empty for other keys. */
  membersOf(plane: string): readonly PlaneMember[]
}

/** Keys of results that changed or are gone. */
export interface TranslatedChange {
  gateways: string[]
  endpoints: string[]
  statuses: string[]
}

/** The config of a Gateway in which the newest spec of a GwPolicy is in force. */
export interface TrialConfig {
  gateway: string
  ir: Ir
  endpoints: Readonly<Record<string, readonly string[]>>
}

/** Status queries by kind; a query returns null for a resource that is not ours. */
const statusByKind: Partial<Record<Kind, Query<Status | null>>> = {
  GatewayClass: gatewayClassStatus,
  Gateway: gatewayStatus,
  ListenerSet: listenerSetStatus,
  XListenerSet: xListenerSetStatus,
  HTTPRoute: ofRoute('HTTPRoute'),
  GRPCRoute: ofRoute('GRPCRoute'),
  TLSRoute: ofRoute('TLSRoute'),
  TCPRoute: ofRoute('TCPRoute'),
  UDPRoute: ofRoute('UDPRoute'),
  BackendTLSPolicy: backendTlsPolicyStatus,
  InferencePool: poolStatus,
  XBackend: xBackendStatus,
  XBackendTrafficPolicy: backendTrafficPolicyStatus,
  XTelemetryPolicy: telemetryPolicyStatus,
  GwBackend: backendStatus,
  GwModel: modelStatus,
  GwPolicy: policyStatus,
  GwFilter: filterStatus,
}

/** One query computes the status of routes of all kinds. */
function ofRoute(kind: RouteKind): Query<Status | null> {
  return { name: `statusOf${kind}`, compute: (context, key) => context.read(routeStatus, `${kind}/${key}`) }
}

/**
 * Translates resources, given in any order, to configs of Gateways and statuses. A change recomputes only its dependents.
 */
export class Translator implements TranslationResult {
  readonly gateways = new Map<string, Ir>()
  readonly endpoints = new Map<string, Readonly<Record<string, readonly string[]>>>()
  readonly statuses = new Map<string, Status>()
  /** Statuses without quarantine notes. */
  readonly #plain = new Map<string, Status>()
  readonly #finders = new Map<string, QuarantineFinder>()
  /** Quarantine notes by Gateway, then by `Kind/namespace/name`. */
  readonly #notes = new Map<string, ReadonlyMap<string, readonly QuarantineNote[]>>()
  readonly #settings: TranslateSettings
  readonly #graph: Graph<Context>
  readonly #store: ResourceStore<Context>
  readonly #waiting = new Set<string>()
  readonly #planes = new SharedPlanes()
  readonly #gone: TranslatedChange = { gateways: [], endpoints: [], statuses: [] }
  readonly #verifications = new Set<string>()
  /** The GwPolicy whose newest spec is tried. */
  #tried: string | null = null

  readonly #trial: Query<boolean> = { name: 'trial', compute: (_context, place) => this.#tried === place }

  constructor(settings: TranslateSettings) {
    const store = new ResourceStore<Context>(indexTable, (input, arg) => this.#graph.invalidate(input, arg))
    this.#store = store
    this.#settings = settings
    this.#graph = new Graph((read) => ({ ...store.lookups(read), read, settings, trial: this.#trial }))
  }

  /** The total number of computations, which measures the cost of changes. */
  get computed(): number {
    return this.#graph.computed
  }

  /** The number of cached values. */
  get size(): number {
    return this.#graph.size
  }

  /** Adds or replaces a resource. Kinds that translation does not read are ignored. */
  put(resource: Resource): void {
    const kind = kindOf(resource)
    if (kind === null) return
    const key = keyOf(resource)
    this.#store.put(kind === 'GwPolicy' ? keepForce(resource, this.#store.find(kind, key)) : resource)
    const status = statusByKind[kind]
    if (status !== undefined) this.#graph.watch(status, key)
    if (kind === 'GwPolicy' && testsOf(resource) !== null) this.#graph.watch(policyVerification, key)
    if (kind !== 'Gateway') return
    for (const query of ofGateways) this.#graph.watch(query, key)
  }

  drop(kind: Kind, key: string): void {
    this.#store.drop(kind, key)
    const status = statusByKind[kind]
    if (status !== undefined) this.#graph.unwatch(status, key)
    this.#plain.delete(`${kind}/${key}`)
    if (this.statuses.delete(`${kind}/${key}`)) this.#gone.statuses.push(`${kind}/${key}`)
    if (kind === 'GwPolicy') this.#graph.unwatch(policyVerification, key)
    if (kind !== 'Gateway') return
    for (const query of ofGateways) this.#graph.unwatch(query, key)
    this.#planes.remove(key)
    if (this.endpoints.delete(key)) this.#gone.endpoints.push(key)
    if (this.gateways.delete(key)) this.#gone.gateways.push(key)
  }

  /** Problems with the fields of a resource, including ignored fields. */
  problemsOf(kind: Kind, key: string): readonly FieldProblem[] {
    return this.#graph.read(fieldProblems, `${kind}/${key}`)
  }

  /** Secrets and ConfigMaps that results depend on, or would if they existed: `Kind/namespace/name`. */
  materials(): string[] {
    this.#graph.refresh()
    return [...this.#graph.args(this.#store.material)].map((arg) => arg.replace(' ', '/'))
  }

  /**
   * Whether the result for `Kind/namespace/name`, or for `Verification/namespace/name` of a GwPolicy, depends on content of
   * a Secret or ConfigMap that is still to be read.
   */
  waits(id: string): boolean {
    return this.#waiting.has(id)
  }

  /**
   * GwPolicies by `namespace/name` whose newest spec or tests changed since the last call; those with `spec.verify`, and
   * those that had it.
   */
  takeVerifications(): string[] {
    const taken = [...this.#verifications]
    this.#verifications.clear()
    return taken
  }

  /** The newest spec of a GwPolicy with the tests that it must pass; null without `spec.verify`. */
  verificationOf(place: string): PolicyVerification | null {
    return this.#graph.read(policyVerification, place)
  }

  /** The record of the spec in force in the status of a GwPolicy, and the condition about its newest spec. */
  forceOf(place: string): { record: VerifiedRecord | null; condition: Condition | null } {
    const resource = this.#store.find('GwPolicy', place)
    if (resource === undefined) return { record: null, condition: null }
    return { record: recordOf(resource), condition: verifiedCondition(resource) }
  }

  /** The configs of the Gateways that the newest spec of a GwPolicy would reach, if it was in force; changes nothing. */
  trialOf(place: string): TrialConfig[] {
    return this.#graph.attempt(this.#trial, place, () => {
      this.#tried = place
      try {
        return this.#graph.read(gatewaysOfPolicy, place).flatMap((gateway) => {
          const whole = this.#graph.read(gatewayConfig, gateway)
          if (whole === null) return []
          // The owner of a Gateway may see all of its routes.
          const isOwner = this.#graph.read(policyPlan, place)?.targets.some(({ kind }) => kind === 'Gateway') === true
          const ir = isOwner ? whole : partOfNamespace(whole, place.slice(0, place.indexOf('/')))
          return [{ gateway, ir, endpoints: this.#graph.read(gatewayEndpoints, gateway) ?? {} }]
        })
      } finally {
        this.#tried = null
      }
    })
  }

  /** Brings configs and statuses up to date after `put` and `drop`; results that wait for content stay as they were. */
  settle(): TranslatedChange {
    const gateways = new Set(this.#gone.gateways.splice(0))
    const endpoints = new Set(this.#gone.endpoints.splice(0))
    const statuses = new Set(this.#gone.statuses.splice(0))
    const changed = this.#graph.settle(this.#hold())
    for (const { query, arg } of changed) {
      const before = this.planeOf(arg)
      const mayMove = query === membershipOf && !this.#waiting.has(`Gateway/${arg}`)
      if (query === gatewayConfig || mayMove) {
        // A Gateway that had to wait is reported as a whole.
        if (this.endpoints.has(arg) && !this.gateways.has(arg)) endpoints.add(arg)
        if (this.#keepConfig(arg)) gateways.add(arg)
      }
      const isMoved = before !== this.planeOf(arg)
      if ((query === gatewayEndpoints || isMoved) && this.#keepEndpoints(arg)) endpoints.add(arg)
      if (query === policyVerification) this.#verifications.add(arg)
      if (ofGateways.some((each) => each === query)) continue
      for (const [kind, status] of Object.entries(statusByKind)) {
        if (query !== status) continue
        const id = `${kind}/${arg}`
        if (keep(this.#plain, id, this.#graph.read(status, arg))) statuses.add(id)
        this.#complete(id)
      }
    }
    const merged = this.#planes.flush()
    for (const [plane, ir] of merged.configs) if (keep(this.gateways, plane, ir)) gateways.add(plane)
    for (const [plane, found] of merged.endpoints) if (keep(this.endpoints, plane, found)) endpoints.add(plane)
    return {
      gateways: [...gateways].toSorted(),
      endpoints: [...endpoints].filter((key) => this.gateways.has(key) || !this.waits(`Gateway/${key}`)).toSorted(),
      statuses: [...statuses].toSorted(),
    }
  }

  /**
   * Computes what data planes will quarantine of the configs of these Gateways, and adds it to the statuses of the affected
   * resources; returns the ids of changed statuses. Separate from `settle`, so that a config need not wait for it.
   */
  findQuarantined(gateways: Iterable<string>): string[] {
    const touched = new Set<string>()
    for (const gateway of gateways) {
      const before = this.#notes.get(gateway) ?? NO_NOTES
      const ir = this.gateways.get(gateway)
      const after =
        ir === undefined ? NO_NOTES : quarantineNotes(gateway, this.#finder(gateway).next(ir), this.membersOf(gateway))
      if (ir === undefined) this.#finders.delete(gateway)
      if (before.size + after.size === 0) continue
      this.#notes.set(gateway, after)
      for (const id of [...before.keys(), ...after.keys()]) touched.add(id)
    }
    return [...touched].filter((id) => this.#complete(id))
  }

  planeOf(gateway: string): string {
    return this.#planes.planeOf(gateway)
  }

  membersOf(plane: string): readonly PlaneMember[] {
    return this.#planes.membersOf(plane)
  }

  /** Keeps the config of a Gateway, or gives it to the shared data plane; returns whether the Gateway has or had its own. */
  #keepConfig(gateway: string): boolean {
    const ir = this.#graph.read(gatewayConfig, gateway)
    const membership = ir === null ? null : this.#graph.read(membershipOf, gateway)
    if (ir !== null && membership !== null) this.#planes.put(gateway, { ...membership, ir })
    else this.#planes.remove(gateway)
    return keep(this.gateways, gateway, membership === null ? ir : null)
  }

  #keepEndpoints(gateway: string): boolean {
    const found = this.#graph.read(gatewayEndpoints, gateway)
    const isShared = this.planeOf(gateway) !== gateway
    if (isShared) this.#planes.reach(gateway, found ?? {})
    return keep(this.endpoints, gateway, isShared ? null : found)
  }

  #finder(gateway: string): QuarantineFinder {
    const known = this.#finders.get(gateway) ?? this.#settings.checks.quarantineFinder()
    this.#finders.set(gateway, known)
    return known
  }

  /** Updates the status with its quarantine notes; returns false when there was none and is none. */
  #complete(id: string): boolean {
    const plain = this.#plain.get(id)
    if (plain === undefined) return this.statuses.delete(id)
    const notes = [...this.#notes.values()].flatMap((byId) => byId.get(id) ?? [])
    this.statuses.set(id, withQuarantine(id, plain, notes))
    return true
  }

  /** Watched results that depend on Secrets or ConfigMaps without content yet. */
  #hold(): ReadonlySet<ChangedQuery<Context>> {
    this.#waiting.clear()
    this.#graph.refresh()
    const { material } = this.#store
    const partial = [...this.#graph.args(material)].filter((arg) => this.#store.isPartial(arg))
    const held = this.#graph.madeOf(material, partial)
    for (const { query, arg } of held) {
      if (query === gatewayConfig) this.#waiting.add(`Gateway/${arg}`)
      if (query === policyVerification) this.#waiting.add(`Verification/${arg}`)
      for (const [kind, status] of Object.entries(statusByKind)) {
        if (query === status) this.#waiting.add(`${kind}/${arg}`)
      }
    }
    return held
  }
}

/** The queries that are watched for each Gateway, besides its status. */
const ofGateways: readonly Query<unknown>[] = [gatewayConfig, gatewayEndpoints, membershipOf]

const NO_NOTES: ReadonlyMap<string, readonly QuarantineNote[]> = new Map()

/** Sets or deletes an entry; returns false when there was none and is none. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value | null): boolean {
  if (value === null) return map.delete(key)
  map.set(key, value)
  return true
}
