import { type BackendServices, compileBackends } from './backends.ts'
import { type BindServices, compileBind, type CompiledBind } from './bind.ts'
import { contentOf, LazyRoute, routeLabels, type RouteParts, type RouteServices } from './route.ts'
import { compileSteps } from './steps.ts'
import { compileTelemetry, type TelemetryServices } from './telemetry.ts'
import { indexPolicies, type PolicyIndex } from '../ir/merge.ts'
import type { Backend, Ir, Listener, Route } from '../ir/resources.ts'
import type { CompiledListener, CompiledRoute } from '../pipeline/compiled.ts'
import { canonicalHostname, createHostnameTable } from '../pipeline/route/hostname.ts'
import { createExpressions } from '../pipeline/expression.ts'
import { compileRoutes } from '../pipeline/route/route-table.ts'
import type { Env } from '../pipeline/step.ts'
import { metricLabels } from '../policies/frontend/metrics/labels.ts'
import { networkAuthorization } from '../policies/frontend/network-authorization/admit.ts'
import { joinedTraffic } from '../policies/order.ts'
import { formatHostPort } from '../upstream/host-port.ts'

export type CompileServices = BackendServices &
  BindServices &
  TelemetryServices &
  RouteServices &
  Pick<Env, 'counters' | 'monotonic' | 'kept' | 'credentials' | 'hub'>

/** Everything ready to run. Unchanged routes are the same objects as in the generation before. */
export interface CompiledConfig {
  binds: Map<string, CompiledBind>
  routesByContent: Map<string, LazyRoute>
}

/** Turns the IR into functions. Throws only on what `sources` should have refused. */
export function compile(ir: Ir, services: CompileServices, previous: CompiledConfig | null): CompiledConfig {
  const parts = createParts(ir, services)
  const frontend = parts.policies.frontend()
  const routesByContent = new Map<string, LazyRoute>()
  const routesByListener = Map.groupBy(ir.routes, (route) => route.listener)
  const listenersByBind = new Map<string, CompiledListener[]>()
  for (const listener of ir.listeners) {
    const routes = (routesByListener.get(listener.key) ?? []).map((route) => {
      const content = contentOf(route, listener, parts)
      const known = previous?.routesByContent.get(content)
      const value = known?.isMade === true ? known : new LazyRoute(route, listener, parts)
      routesByContent.set(content, value)
      return { route, value }
    })
    const compiled = compileListener(listener, routes, parts)
    const list = listenersByBind.get(listener.bind)
    if (list === undefined) listenersByBind.set(listener.bind, [compiled])
    else list.push(compiled)
  }
  const admits = networkAuthorization(parts.policies.networkAuthorization())
  const telemetry = compileTelemetry(frontend, services)
  const binds = new Map<string, CompiledBind>()
  for (const bind of ir.binds) {
    const sources = ir.listeners.filter((listener) => listener.bind === bind.key)
    const bindParts = { bind, sources, listeners: listenersByBind.get(bind.key) ?? [], frontend, admits, telemetry }
    binds.set(bind.key, compileBind(bindParts, services, previous?.binds.get(bind.key) ?? null))
  }
  return { binds, routesByContent }
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
    hub: services.hub,
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
