import { type BackendServices, compileBackends } from './compile-backends.ts'
import { type BindServices, compileBind, type CompiledBind } from './compile-bind.ts'
import { contentOf, LazyRoute, routeLabels, type RouteParts, type RouteServices } from './compile-route.ts'
import { indexPolicies } from './ir/merge.ts'
import type { Ir, Listener, Route } from './ir/resources.ts'
import type { CompiledListener, CompiledRoute } from './pipeline/compiled.ts'
import { canonicalHostname, createHostnameTable } from './pipeline/hostname.ts'
import { compileRoutes } from './pipeline/route.ts'

export type CompileServices = BackendServices & BindServices & RouteServices

/** Everything ready to run. Unchanged routes are the same objects as in the generation before. */
export interface CompiledConfig {
  binds: Map<string, CompiledBind>
  routesByContent: Map<string, LazyRoute>
}

/** Turns the IR into functions. Throws only on what `sources` should have refused. */
export function compile(ir: Ir, services: CompileServices, previous: CompiledConfig | null): CompiledConfig {
  const policies = indexPolicies(ir)
  const backendsByKey = new Map(ir.backends.map((backend) => [backend.key, backend]))
  const backends = compileBackends(backendsByKey, policies, services)
  const parts: RouteParts = { policies, backends, backendsByKey, services }
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
    const compiled = compileListener(listener, routes, services)
    const list = listenersByBind.get(listener.bind)
    if (list === undefined) listenersByBind.set(listener.bind, [compiled])
    else list.push(compiled)
  }
  const frontend = policies.frontend()
  const binds = new Map<string, CompiledBind>()
  for (const bind of ir.binds) {
    const sources = ir.listeners.filter((listener) => listener.bind === bind.key)
    const bindParts = { bind, sources, listeners: listenersByBind.get(bind.key) ?? [], frontend }
    binds.set(bind.key, compileBind(bindParts, services, previous?.binds.get(bind.key) ?? null))
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
    countUnrouted: services.requestMetrics(routeLabels(listener, 'unknown', [])),
  }
}

function hostnamesOf(route: Route): string[] {
  return route.hostnames.length === 0 ? [''] : route.hostnames
}
