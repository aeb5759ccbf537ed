import { compileBackends } from './backends.ts'
import type { BackendServices } from './services.ts'
import { type BindServices, compileBind, type CompiledBind } from './bind.ts'
import { contentOf, lazyRoute, routeLabels, type RouteParts, type RouteServices } from './route.ts'
import { compileSteps } from './steps.ts'
import { indexPolicies, type PolicyIndex } from '../ir/merge.ts'
import type { Backend, Ir, Listener, Route } from '../ir/resources.ts'
import type { CompiledListener, CompiledRoute } from '../pipeline/compiled.ts'
import { makeEach } from '../pipeline/config-fault.ts'
import { canonicalHostname, createHostnameTable } from '../pipeline/route/hostname.ts'
import { createExpressions } from '../pipeline/expression.ts'
import type { LazyRoute } from '../pipeline/route/lazy-route.ts'
import { compileRoutes } from '../pipeline/route/route-table.ts'
import type { Env } from '../pipeline/step.ts'
import { createTelemetry, type Telemetry, type TelemetryServices } from '../pipeline/telemetry.ts'
import { accessLogEdit } from '../policies/frontend/access-log/edit.ts'
import { metricLabels } from '../policies/frontend/metrics/labels.ts'
import { networkAuthorization } from '../policies/frontend/network-authorization/admit.ts'
import type { FrontendPolicies } from '../policies/index.ts'
import { joinedTraffic } from '../policies/order.ts'
import { formatHostPort } from '../upstream/host-port.ts'

export type CompileServices = BackendServices &
  BindServices &
  TelemetryServices &
  RouteServices &
  Pick<Env, 'counters' | 'monotonic' | 'kept' | 'credentials'>

/** Everything ready to run. Unchanged routes are the same objects as in the generation before. */
export interface CompiledConfig {
  binds: Map<string, CompiledBind>
  routesByContent: Map<string, LazyRoute>
}

/** Turns the IR into functions. Throws `ConfigFault`s on what only shows when everything is put together. */
export function compile(ir: Ir, services: CompileServices, previous: CompiledConfig | null): CompiledConfig {
  const parts = createParts(ir, services)
  const frontend = parts.policies.frontend()
  const routesByContent = new Map<string, LazyRoute>()
  const routesByListener = Map.groupBy(ir.routes, (route) => route.listener)
  const listenersByBind = new Map<string, CompiledListener[]>()
  makeEach(ir.listeners, (listener) => {
    const routes = (routesByListener.get(listener.key) ?? []).map((route) => {
      const content = contentOf(route, listener, parts)
      const known = previous?.routesByContent.get(content)
      const value = known?.isMade === true ? known : lazyRoute(route, listener, parts)
      routesByContent.set(content, value)
      return { route, value }
    })
    const compiled = compileListener(listener, routes, parts)
    const list = listenersByBind.get(listener.bind)
    if (list === undefined) listenersByBind.set(listener.bind, [compiled])
    else list.push(compiled)
  })
  const admits = networkAuthorization(parts.policies.networkAuthorization())
  const telemetry = compileTelemetry(frontend, services)
  const binds = new Map<string, CompiledBind>()
  makeEach(ir.binds, (bind) => {
    const sources = ir.listeners.filter((listener) => listener.bind === bind.key)
    const bindParts = { bind, sources, listeners: listenersByBind.get(bind.key) ?? [], frontend, admits, telemetry }
    binds.set(bind.key, compileBind(bindParts, services, previous?.binds.get(bind.key) ?? null))
  })
  return { binds, routesByContent }
}

function compileTelemetry({ accessLog, metrics }: FrontendPolicies, services: TelemetryServices): Telemetry {
  const edit = accessLogEdit(accessLog)
  return createTelemetry({ edit, isRead: edit !== null || metrics !== undefined }, services)
}

/** Puts every route together, and the backends that nothing leads to: who writes one wants to know before using it. */
export function checkParts(ir: Ir, services: CompileServices): void {
  const parts = createParts(ir, services)
  const listeners = new Map(ir.listeners.map((listener) => [listener.key, listener]))
  const used = new Set(ir.routes.flatMap((route) => route.backends.map(({ backend }) => backend)))
  const tunnels = ir.policies.filter(({ backend }) => backend?.tunnel !== undefined)
  // A proxy is looked at with what goes through it: a tunnel of the whole gateway does not hold for the proxy itself.
  for (const { backend } of tunnels) if (backend?.tunnel !== undefined) used.add(backend.tunnel.backendRef.name)
  for (const { target } of tunnels) if (target.kind === 'backend') used.delete(target.key)
  const unused = ir.backends.filter(({ key }) => !used.has(key))
  makeEach([...ir.routes, ...unused], (part) => {
    if ('target' in part) return parts.backends.named(part.key)
    const listener = listeners.get(part.listener)
    return listener === undefined ? null : lazyRoute(part, listener, parts).make()
  })
}

/** Apart from `compile`, whose variables hold the generation before: steps keep what they are made with. */
function createParts(ir: Ir, services: CompileServices): RouteParts {
  const policies = indexPolicies(ir, joinedTraffic)
  const backendsByKey = new Map(ir.backends.map((backend) => [backend.key, backend]))
  const backends = compileBackends(backendsByKey, policies, services, () => env)
  const env: RouteParts['env'] = {
    random: services.random,
    clock: services.clock,
    monotonic: services.monotonic,
    counters: services.counters,
    maxBufferBytes: policies.frontend().http?.maxBufferSize ?? DEFAULT_BUFFER,
    cel: createExpressions(services),
    client: (key) => backends.named(key),
    describe: (key) => describeBackend(backendsByKey.get(key)!, policies),
    kept: services.kept,
    credentials: services.credentials,
    log: services.log,
  }
  const labels = metricLabels(policies.frontend().metrics)
  const requestMetrics: RouteServices['requestMetrics'] = (route) => services.requestMetrics(route, labels)
  return { policies, backends, backendsByKey, services: { requestMetrics }, env }
}

function describeBackend(backend: Backend, policies: PolicyIndex): ReturnType<Env['describe']> {
  const { key, target } = backend
  const own = policies.backend({ listener: '', route: '', parent: '', backend: key, entry: key })
  return {
    content: JSON.stringify([backend, own]),
    address: target.kind === 'static' ? formatHostPort(target.host, target.port) : 'localhost',
  }
}

function compileListener(
  listener: Listener,
  routes: { route: Route; value: CompiledRoute }[],
  { policies, services, env }: RouteParts,
): CompiledListener {
  const isHttp = listener.protocol === 'HTTP' || listener.protocol === 'HTTPS'
  return {
    ...compileSteps(policies.preRouting(listener.key), env),
    key: listener.key,
    name: listener.name,
    bind: listener.bind,
    protocol: listener.protocol,
    hostname: canonicalHostname(listener.hostname),
    routes: compileRoutes(isHttp ? routes : []),
    rawRoutes: createHostnameTable(
      isHttp ? [] : routes.flatMap(({ route, value }) => hostnamesOf(route).map((name) => [name, value] as const)),
    ),
    countUnrouted: services.requestMetrics(routeLabels(listener, 'unknown', [])),
  }
}

function hostnamesOf(route: Route): string[] {
  return route.hostnames.length === 0 ? [''] : route.hostnames
}

/** 2 MiB, as the schema has it. */
const DEFAULT_BUFFER = 2 * 1024 * 1024
