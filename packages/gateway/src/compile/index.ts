import { AlikeRoutes, type WatchedRoom } from './alike-routes.ts'
import { compileBackends } from './backends.ts'
import { backendOf, type BackendServices } from './services.ts'
import type { BindParts, BindServices } from './bind-parts.ts'
import { compileBind, type CompiledBind } from './bind.ts'
import type { CompiledUdpBind } from './udp-bind.ts'
import { compileUdpBind, createMemoryBudgets, createSeal, metricsDelivery } from './load-features.ts'
import { lazyRoute, routeLabels, type RouteParts, type RouteServices } from './route.ts'
import { CompiledRoutes, type ListenerRoutes, type NextRoutes } from './routes.ts'
import { compileSteps, NO_STEPS } from './steps.ts'
import { compileTelemetry, type TelemetryServices } from './telemetry.ts'
import { affectedBy, type IrIndex, touchedTargets } from '../ir/affected.ts'
import type { ChangedIr } from '../ir/change.ts'
import { credentialNames } from '../redaction/configured-names.ts'
import { heldLimitDomains } from '../ir/limit-domains.ts'
import { indexPolicies, type PolicyIndex, setsOfListeners, targetKey } from '../ir/merge.ts'
import { PoliciesByTarget } from '../ir/policies-by-target.ts'
import type { AttachedPolicy, Backend, Bind, Ir, Listener } from '../ir/resources.ts'
import { SharingMap } from '../collections/sharing-map.ts'
import { closedStepList } from '../pipeline/compiled/closed-steps.ts'
import type { CompiledListener } from '../pipeline/compiled/compiled.ts'
import { ConfigFault, CyclicBackend, makeEach } from '../pipeline/compiled/config-fault.ts'
import { type ConfigUnit, type FaultRecorder, GATEWAY, makeOptional } from '../pipeline/compiled/containment.ts'
import { candidatesOf } from '../pipeline/route/candidate.ts'
import { canonicalHostname } from '../pipeline/route/hostname.ts'
import { createExpressions } from '../pipeline/expression/expression.ts'
import { limitCalls } from '../pipeline/call/limited-call.ts'
import { serviceClient } from '../pipeline/call/service-client.ts'
import type { Env } from '../pipeline/context/step.ts'
import { metricLabels } from '../policies/frontend/metrics/labels.ts'
import { networkAuthorization, networkShadow } from '../policies/frontend/network-authorization/admit.ts'
import { recorderSettings } from '../policies/frontend/recorder/settings.ts'
import { joinedTraffic } from '../policies/order.ts'
import { bugReport } from '../telemetry/log/logger.ts'
import type { Seal } from '../state/seal.ts'
import type { BudgetStore, SettlingGate } from '../stores/budgets/budget-store.ts'
import type { Deliver } from '../telemetry/otlp/retrying-sender.ts'
import { formatHostPort } from '@portico/http/client'

export type CompileServices = BackendServices &
  BindServices &
  TelemetryServices &
  RouteServices &
  Pick<RouteParts, 'containment'> &
  Pick<
    Env,
    | 'counters'
    | 'tables'
    | 'answers'
    | 'answerCounts'
    | 'monotonic'
    | 'kept'
    | 'credentials'
    | 'callouts'
    | 'keyWithoutRoom'
    | 'rehearsed'
    | 'countShadow'
    | 'picks'
  > & {
    /** Budgets that several gateways share; null when the config has no store for them. */
    budgets: BudgetStore | null
    /** Lets reservations in shared memory wait while amounts are saved. */
    settling?: SettlingGate | null
  }

/** A compiled config. Routes that a change does not affect are the same objects as in the previous generation. */
export interface CompiledConfig {
  binds: Map<string, CompiledBind | CompiledUdpBind>
  listeners: Map<string, CompiledListener>
  routes: CompiledRoutes
  parts: RouteParts
  /** Sends metrics to the OTLP collector; null when the config names none. */
  deliverMetrics: Deliver | null
  /** The settings of the request recorder; null when it is off. */
  recorder: ReturnType<typeof recorderSettings>
}

/** The previous generation, and the change since then; null when everything changed. */
export interface Previous {
  config: CompiledConfig
  changed: ChangedIr | null
}

/** Compiles the IR to functions. Throws `ConfigFault`s for problems that only show when all parts are combined. */
export function compile(ir: Ir, services: CompileServices, previous: Previous | null): CompiledConfig {
  return assemble(ir, createParts(ir, services, previous), services, previous)
}

function assemble(
  ir: Pick<Ir, 'binds' | 'listeners' | 'routes'>,
  parts: RouteParts,
  services: CompileServices,
  previous: Previous | null,
): CompiledConfig {
  const frontend = parts.policies.frontend()
  const recorder = recorderSettings(frontend.recorder, parts.credentials)
  const { routes, adopt } = nextRoutes(ir, parts, previous)
  const listeners = new Map<string, CompiledListener>()
  const { containment } = services
  const networkShadows = new Map(
    ir.binds.map(({ key }) => {
      const make = () => networkShadow(parts.policies.networkShadows(key), services)
      return [key, containment.make({ kind: 'bind', key }, make, () => null)]
    }),
  )
  makeEach(ir.listeners, (listener) => {
    const shadow = networkShadows.get(listener.bind) ?? null
    listeners.set(listener.key, compileListener(listener, routes.of(listener), shadow, parts))
  })
  const network = containment.make(GATEWAY, () => networkAuthorization(parts.policies.networkAuthorization()), nobody)
  const telemetry = compileTelemetry(frontend, parts.env, services)
  const deliverMetrics = makeOptional(containment, frontend.metrics?.otlp, (config) =>
    metricsDelivery(config, parts.env),
  )
  const binds = new Map<string, CompiledBind | CompiledUdpBind>()
  makeEach(ir.binds, (bind) => {
    const sources = ir.listeners.filter((listener) => listener.bind === bind.key)
    const own = sources.flatMap(({ key }) => listeners.get(key) ?? [])
    const bindParts = {
      bind,
      sources,
      listeners: own,
      frontend,
      network,
      networkShadow: networkShadows.get(bind.key) ?? null,
      telemetry,
      ...ownFrontend(bind, parts, services),
    }
    const before = previous?.config.binds.get(bind.key)
    const compiled =
      bind.transport === 'udp'
        ? compileUdpBind(bindParts, services)
        : compileBind(bindParts, services, before?.transport === 'tcp' ? before : null)
    binds.set(bind.key, compiled)
  })
  // No step after this line can fail.
  adopt()
  return { binds, listeners, routes, parts, deliverMetrics, recorder }
}

/** The policies of a bind that has policies of its own; empty for other binds. */
function ownFrontend(
  { key }: Bind,
  { policies, env }: RouteParts,
  services: CompileServices,
): Partial<Pick<BindParts, 'frontend' | 'network' | 'telemetry'>> {
  const own = policies.ofBind(key)
  if (own === null) return {}
  const rules = own.networkAuthorization
  return {
    frontend: own.frontend,
    network: services.containment.make({ kind: 'bind', key }, () => networkAuthorization(rules), nobody),
    telemetry: compileTelemetry(own.frontend, env, services),
  }
}

function nextRoutes(ir: Pick<Ir, 'listeners' | 'routes'>, parts: RouteParts, previous: Previous | null): NextRoutes {
  const changed = previous?.changed ?? null
  if (previous === null || changed === null) return { routes: CompiledRoutes.of(ir, parts), adopt() {} }
  return previous.config.routes.after(ir, changed, parts)
}

/** Replaces network rules that cannot be compiled: denies every connection. */
const nobody = (): ReturnType<typeof networkAuthorization> => ({
  allows: () => false,
  denies: () => true,
  explain: () => [],
})

/**
 * Compiles everything: every route that is not like another one, and the backends without a route, so that their
 * authors learn of faults before they use them. `room` and `recorder` are those of the services.
 */
export function checkAll(ir: Ir, services: CompileServices, room: WatchedRoom, recorder: FaultRecorder): void {
  const parts = createParts(ir, services, null)
  const alike = new AlikeRoutes(parts.index, room)
  const listeners = new Map(ir.listeners.map((listener) => [listener.key, listener]))
  const check = (unit: ConfigUnit, make: () => unknown): void => {
    recorder.make<unknown>(unit, make, () => null)
  }
  // A check looks up no route, so it builds no route tables.
  check(GATEWAY, () => assemble({ ...ir, routes: [] }, parts, services, null))
  for (const route of ir.routes) {
    const listener = listeners.get(route.listener)
    if (listener === undefined) continue
    const before = recorder.found.length
    check({ kind: 'route', key: route.key }, () => {
      candidatesOf(route, null, { order: 0 })
      alike.check(route, () => {
        lazyRoute(route, listener, { current: parts }).make()
        return recorder.found.length === before
      })
    })
  }
  for (const { key } of unusedBackends(ir)) check({ kind: 'backend', key }, () => parts.backends.named(key))
}

/** Compiles only the parts that a change affects; all other parts were checked with the previous config. */
export function checkChange(changed: ChangedIr, services: CompileServices): void {
  const { ir, came, gone } = changed
  const parts = createParts(ir, services, null)
  const affected = affectedBy(changed, parts.index)
  const touched = touchedTargets(changed)
  const routes = affected.routesIn(ir.routes)
  const keys = new Set(routes.map(({ listener }) => listener))
  const isMeant = ({ key }: Listener): boolean => keys.has(key) || touched.has(targetKey({ kind: 'listener', key }))
  const meant = new Set(ir.listeners.filter(isMeant).map(({ bind }) => bind))
  const hasPolicies = ({ key }: Bind): boolean => touched.has(targetKey({ kind: 'bind', key }))
  const binds = ir.binds.filter((bind) => meant.has(bind.key) || came.binds.includes(bind) || hasPolicies(bind))
  const listeners = ir.listeners.filter(({ bind }) => binds.some(({ key }) => key === bind))
  const config = assemble({ binds, listeners, routes }, parts, services, null)
  makeEach(config.routes.byKey.entries(), ([, route]) => route.make())
  // A backend that lost its last route is now checked by itself.
  const lost = new Set(gone.routes.flatMap((route) => route.backends.map(({ backend }) => backend)))
  const hasTunnel = ({ backend }: AttachedPolicy): boolean => backend?.tunnel !== undefined
  const isAny = gone.policies.some(hasTunnel) || came.policies.some(hasTunnel)
  const mayStand = ir.backends.filter((backend) => isAny || lost.has(backend.key) || affected.backend(backend))
  for (const { key } of unusedBackends(ir, mayStand)) parts.backends.named(key)
}

/** The backends that no route uses. */
function unusedBackends(ir: Ir, backends: readonly Backend[] = ir.backends): Backend[] {
  const asked = new Set(backends.map(({ key }) => key))
  const used = new Set<string>()
  for (const route of ir.routes) {
    for (const { backend } of route.backends) if (asked.has(backend)) used.add(backend)
    if (used.size === asked.size) break
  }
  const tunnels = ir.policies.filter(({ backend }) => backend?.tunnel !== undefined)
  // A proxy is checked together with the backends that use it: a tunnel of the whole gateway does not apply to the
  // proxy itself.
  for (const { backend } of tunnels) {
    const proxy = backend?.tunnel?.backendRef
    if (proxy !== undefined) used.add(proxy.name)
  }
  for (const { target } of tunnels) if (target.kind === 'backend') used.delete(target.key)
  return backends.filter(({ key }) => !used.has(key))
}

/**
 * Separate from `compile`, whose variables refer to the previous generation: closures of the steps would keep it in
 * memory.
 */
function createParts(ir: Ir, services: CompileServices, previous: Previous | null): RouteParts {
  const index = indexIr(ir, previous)
  const { backendsByKey } = index
  const policies = indexPolicies(index.byTarget, joinedTraffic, setsOfListeners(ir.listeners), known)
  const backends = compileBackends(backendsByKey, policies, services, () => env)
  const underWay = new Set<string>()
  const client: Env['client'] = (key) => {
    // Policies of a backend may call another backend, whose policies may call the first.
    if (underWay.has(key)) throw new CyclicBackend(key)
    underWay.add(key)
    try {
      return serviceClient(limitCalls(backends.named(key), services.deadlines), bugReport(services.log))
    } finally {
      underWay.delete(key)
    }
  }
  const env: RouteParts['env'] = {
    isShadow: false,
    isLimitDomainHeld: heldLimitDomains(ir.policies),
    random: services.random,
    clock: services.clock,
    monotonic: services.monotonic,
    counters: services.counters,
    tables: services.tables,
    budgets: () => services.budgets ?? services.kept.held('budgets', () => createMemoryBudgets(services)),
    answers: services.answers,
    deadlines: services.deadlines,
    maxBufferBytes: policies.frontend().http?.maxBufferSize ?? DEFAULT_BUFFER,
    maxModelBytes: policies.frontend().http?.maxBufferSize ?? DEFAULT_MODEL_BUFFER,
    cel: createExpressions(services),
    client,
    describe: (key) => describeBackend(backendOf(backendsByKey, key), policies),
    callouts: services.callouts,
    keyWithoutRoom: services.keyWithoutRoom,
    rehearsed: services.rehearsed,
    countShadow: services.countShadow,
    picks: services.picks,
    answerCounts: services.answerCounts,
    recordId: (rx) => services.recorder.idOf(rx),
    kept: services.kept,
    seal: () => sealOf(services),
    credentials: services.credentials,
    log: services.log,
  }
  const labels = metricLabels(policies.frontend().metrics)
  const requestMetrics: RouteServices['requestMetrics'] = (route) => services.requestMetrics(route, labels)
  return {
    index,
    policies,
    backends,
    services: { requestMetrics, identity: services.identity },
    env,
    credentials: credentialNames(ir),
    containment: services.containment,
  }
}

/** Fails closed on unknown policies: they may guard access, so their targets are not compiled without them. */
function known(policies: readonly AttachedPolicy[]): readonly AttachedPolicy[] {
  for (const policy of policies) {
    if (policy.unknown !== undefined) throw new ConfigFault(policy, [], { found: policy.unknown, expected: '' })
  }
  return policies
}

/** The seal for values given to clients; it outlives reloads, so that earlier values stay valid. */
function sealOf({ kept, sessionKeys }: CompileServices): Seal {
  const keys = sessionKeys()
  return kept.held(`seal ${keys.join()}`, () => createSeal(keys.map((key) => Buffer.from(key, 'hex'))))
}

/** The index of a whole config, which the only thread checks and then compiles; not kept any longer than its user does. */
const indexes = new WeakMap<Ir, WeakRef<IrIndex>>()

function indexIr(ir: Ir, previous: Previous | null): IrIndex {
  const entry = (backend: Backend): [string, Backend] => [backend.key, backend]
  if (previous === null || previous.changed === null) {
    const known = indexes.get(ir)?.deref()
    if (known !== undefined) return known
    const backendsByKey = SharingMap.of(ir.backends.map(entry))
    const index = { byTarget: PoliciesByTarget.of(ir.policies), backendsByKey }
    indexes.set(ir, new WeakRef(index))
    return index
  }
  const { changed, config } = previous
  const { byTarget, backendsByKey } = config.parts.index
  const gone = changed.gone.backends.map(({ key }): [string, undefined] => [key, undefined])
  return {
    byTarget: byTarget.after(changed),
    backendsByKey: backendsByKey.with([...gone, ...changed.came.backends.map(entry)]),
  }
}

function describeBackend(backend: Backend, policies: PolicyIndex): ReturnType<Env['describe']> {
  const { key, target } = backend
  const own = policies.backend({ listener: '', route: '', parent: '', backend: key, entry: key })
  return {
    content: JSON.stringify([backend, own]),
    address:
      target.kind === 'static' || target.kind === 'service' ? formatHostPort(target.host, target.port) : 'localhost',
  }
}

function compileListener(
  listener: Listener,
  { table, raw }: ListenerRoutes,
  connectionShadow: ReturnType<typeof networkShadow>,
  { policies, services, env, containment }: RouteParts,
): CompiledListener {
  const unit = { kind: 'listener', key: listener.key } as const
  return {
    ...containment.make(
      unit,
      () => {
        const shadows = policies.preRoutingShadows(listener.key)
        return compileSteps(policies.preRouting(listener.key), env, { shadows, connectionShadow, containment, unit })
      },
      (reason) => ({ ...NO_STEPS, request: closedStepList(reason) }),
    ),
    key: listener.key,
    name: listener.name,
    bind: listener.bind,
    protocol: listener.protocol,
    hostname: canonicalHostname(listener.hostname),
    routes: table,
    rawRoutes: raw,
    countUnrouted: services.requestMetrics(routeLabels(listener, 'unknown', [], services.identity)),
  }
}

/** The two defaults that the schema documents. LLM providers accept requests of 32 MB. */
const DEFAULT_BUFFER = 2 * 1024 * 1024
const DEFAULT_MODEL_BUFFER = 32 * 1024 * 1024
