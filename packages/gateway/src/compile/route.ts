import type { Backends } from './backends.ts'
import type { IrIndex } from '../ir/affected.ts'
import type { PolicyIndex } from '../ir/merge.ts'
import { compileSteps } from './steps.ts'
import type { Listener, Route } from '../ir/resources.ts'
import type { CompiledBackend } from '../pipeline/compiled.ts'
import { andFaultsOf, makeEach } from '../pipeline/config-fault.ts'
import { widest } from '../pipeline/body/body-use.ts'
import { tellFailureOf } from '../pipeline/failure-reply.ts'
import { gatewayName, type ProxyIdentity } from '../pipeline/proxy-identity.ts'
import { type CurrentParts, LazyRoute, type MadeRoute } from '../pipeline/route/lazy-route.ts'
import type { Env } from '../pipeline/step.ts'
import { weightedPicker } from '../pipeline/route/weighted.ts'
import type { RequestMetrics } from '../telemetry/metrics/request-metrics.ts'
import type { RouteLabels } from '../telemetry/metrics/label-sets.ts'

export interface RouteServices {
  requestMetrics: RequestMetrics
  identity: ProxyIdentity
}

/** What all routes of a generation are made with. */
export interface RouteParts {
  index: IrIndex
  policies: PolicyIndex
  backends: Backends
  services: RouteServices
  /** What steps may use, but for the attachment of each. */
  env: Omit<Env, 'attachment'>
  /** Headers and parameters, in lower case, that carry credentials. */
  credentials: ReadonlySet<string>
}

/** Put together when the first request meets it, from what stands ready here. */
export function lazyRoute(route: Route, listener: Listener, parts: CurrentParts<RouteParts>): LazyRoute<RouteParts> {
  return new LazyRoute(route, (given) => makeRoute(route, listener, given), parts)
}

function makeRoute(route: Route, listener: Listener, { policies, backends, services, env }: RouteParts): MadeRoute {
  const traffic = policies.traffic(placeOf(route))
  let entries: CompiledBackend[]
  try {
    entries = makeEach(route.backends, (entry) => backends.forRoute(route, entry))
  } catch (error) {
    // Whoever mends the backends should know what is wrong with the policies too.
    throw andFaultsOf(error, () => compileSteps(traffic, env))
  }
  return {
    ...compileSteps(traffic, env, widest(entries.map((entry) => entry.requestBody))),
    backends: entries,
    pick: weightedPicker(route.backends.map((entry) => entry.weight)),
    count: services.requestMetrics(routeLabels(listener, route.name, entries, services.identity)),
    tellFailure: tellFailureOf(entries),
  }
}

/** Where a route stands among the attachments of policies. */
export function placeOf(route: Route): { listener: string; key: string; parent: string } {
  return { listener: route.listener, key: route.key, parent: `${route.listener}/${route.name}` }
}

export function routeLabels(
  listener: Listener,
  route: string,
  backends: readonly CompiledBackend[],
  identity: ProxyIdentity,
): RouteLabels {
  return {
    bind: listener.bind,
    gateway: gatewayName(identity),
    listener: listener.name,
    route,
    backends: backends.map((backend) => ({ name: backend.name, protocol: 'http' })),
  }
}
