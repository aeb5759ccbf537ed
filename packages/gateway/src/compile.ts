import { compileBackends, type BackendServices } from './compile-backends.ts'
import { compileBind, type CompiledBind, type BindServices } from './compile-bind.ts'
import { indexPolicies, type PolicyIndex } from './ir/merge.ts'
import type { Ir, Listener, Route } from './ir/resources.ts'
import { canonicalHostname, createHostnameTable } from './pipeline/hostname.ts'
import type { CompiledBackend, CompiledListener, CompiledRoute } from './pipeline/compiled.ts'
import { compileRoutes } from './pipeline/route.ts'
import type { Env, MakeStep, Step } from './pipeline/step.ts'
import { weightedPicker } from './pipeline/weighted.ts'
import { responseOrder, type TrafficName, trafficSteps } from './policies/order.ts'
import type { TrafficPolicies } from './policies/index.ts'
import type { RecordRequest, RouteLabels } from './telemetry/request-metrics.ts'

export interface CompileServices extends BackendServices, BindServices {
  requestMetrics: (route: RouteLabels) => RecordRequest
  random: () => number
}

/** Everything ready to run. Unchanged routes are the same objects as in the generation before. */
export interface CompiledConfig {
  binds: Map<string, CompiledBind>
  routesByContent: Map<string, CompiledRoute>
}

/** Turns the IR into functions. Throws only on what `sources` should have refused. */
export function compile(ir: Ir, services: CompileServices, previous: CompiledConfig | null): CompiledConfig {
  const policies = indexPolicies(ir)
  const backends = compileBackends(ir, policies, services)
  const routesByContent = new Map<string, CompiledRoute>()
  const routesByListener = Map.groupBy(ir.routes, (route) => route.listener)
  const listenersByBind = new Map<string, CompiledListener[]>()
  for (const listener of ir.listeners) {
    const routes = (routesByListener.get(listener.key) ?? []).map((route) => {
      const content = contentOf(route, listener, policies, ir)
      const known = previous?.routesByContent.get(content)
      const value = known ?? compileRoute(route, listener, { policies, backends, services })
      routesByContent.set(content, value)
      return { route, value }
    })
    const compiled = compileListener(listener, routes, services)
    const list = listenersByBind.get(listener.bind)
    if (list === undefined) listenersByBind.set(listener.bind, [compiled])
    else list.push(compiled)
  }
  const frontend = policies.frontend()
  const binds = new Map<string, CompiledBind>()
  for (const bind of ir.binds) {
    const sources = ir.listeners.filter((listener) => listener.bind === bind.key)
    const parts = { bind, sources, listeners: listenersByBind.get(bind.key) ?? [], frontend }
    binds.set(bind.key, compileBind(parts, services, previous?.binds.get(bind.key) ?? null))
  }
  return { binds, routesByContent }
}

function compileListener(
  listener: Listener,
  routes: { route: Route; value: CompiledRoute }[],
  services: CompileServices,
): CompiledListener {
  const isHttp = listener.protocol === 'HTTP' || listener.protocol === 'HTTPS'
  return {
    key: listener.key,
    name: listener.name,
    bind: listener.bind,
    protocol: listener.protocol,
    hostname: canonicalHostname(listener.hostname),
    routes: compileRoutes(isHttp ? routes : []),
    rawRoutes: createHostnameTable(
      isHttp ? [] : routes.flatMap(({ route, value }) => hostnamesOf(route).map((name) => [name, value] as const)),
    ),
    countUnrouted: services.requestMetrics(labelsOf(listener, 'unknown', [])),
  }
}

function hostnamesOf(route: Route): string[] {
  return route.hostnames.length === 0 ? [''] : route.hostnames
}

interface RouteParts {
  policies: PolicyIndex
  backends: ReturnType<typeof compileBackends>
  services: CompileServices
}

function compileRoute(route: Route, listener: Listener, parts: RouteParts): CompiledRoute {
  const { policies, backends, services } = parts
  const entries = route.backends.map((entry) => backends.forRoute(route, entry))
  const steps = makeSteps(policies.traffic(listener.key, route.key), {
    random: services.random,
    maxBufferBytes: policies.frontend().http?.maxBufferSize ?? DEFAULT_BUFFER,
    client: (key) => backends.named(key),
  })
  const request = steps.flatMap(([, step]) => (step.request === undefined ? [] : [step.request]))
  const response = responseOrder.flatMap((name) => {
    const step = steps.find(([candidate]) => candidate === name)?.[1]
    return step?.response === undefined ? [] : [step.response]
  })
  return {
    key: route.key,
    name: route.name,
    request: request.length === 0 ? null : request,
    response: response.length === 0 ? null : response,
    backends: entries,
    pick: weightedPicker(route.backends.map((entry) => entry.weight)),
    count: services.requestMetrics(labelsOf(listener, route.name, entries)),
  }
}

function makeSteps(config: TrafficPolicies, env: Env): [TrafficName, Step][] {
  const steps: [TrafficName, Step][] = []
  for (const name of Object.keys(trafficSteps) as TrafficName[]) {
    const step = makeStep(name, config, env)
    if (step !== null) steps.push([name, step])
  }
  return steps
}

function makeStep(name: TrafficName, config: TrafficPolicies, env: Env): Step | null {
  const own = config[name]
  // Name and config belong together by the type of `trafficSteps`, which the compiler cannot follow through a variable.
  return own === undefined ? null : (trafficSteps[name] as MakeStep<typeof own>)(own, env)
}

function labelsOf(listener: Listener, route: string, backends: readonly CompiledBackend[]): RouteLabels {
  return {
    bind: listener.bind,
    gateway: 'default/default',
    listener: listener.name,
    route,
    backends: backends.map((backend) => ({ name: backend.name, protocol: 'http' })),
  }
}

/** 2 MB, as the spec has it. */
const DEFAULT_BUFFER = 2_000_000

/** Everything a compiled route is made of, as text: equal texts behave equally. */
function contentOf(route: Route, listener: Listener, policies: PolicyIndex, ir: Ir): string {
  const traffic = policies.traffic(listener.key, route.key)
  const mirrored = traffic.requestMirror?.backend
  const keys = new Set([...route.backends.map((entry) => entry.backend), ...(mirrored === undefined ? [] : [mirrored])])
  const targets = ir.backends.filter((backend) => keys.has(backend.key))
  const backendPolicies = route.backends.map((entry) =>
    policies.backend({ listener: listener.key, route: route.key, backend: entry.backend, entry: entry.key }),
  )
  if (mirrored !== undefined) {
    backendPolicies.push(policies.backend({ listener: '', route: '', backend: mirrored, entry: mirrored }))
  }
  return JSON.stringify([
    route,
    listener.bind,
    listener.name,
    traffic,
    targets,
    backendPolicies,
    policies.frontend().http,
  ])
}
