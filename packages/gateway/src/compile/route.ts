import type { Backends } from './backends.ts'
import { backendSessions } from './load-features.ts'
import type { IrIndex } from '../ir/affected.ts'
import type { PolicyIndex } from '../ir/merge.ts'
import { compileSteps, type CompiledSteps, NO_STEPS } from './steps.ts'
import { connectionAuthorization } from '../policies/traffic/authorization/admit-connection.ts'
import type { Listener, Route } from '../ir/resources.ts'
import type { CompiledBackend } from '../pipeline/compiled/compiled.ts'
import type { Containment } from '../pipeline/compiled/containment.ts'
import { widest } from '../pipeline/context/body-use.ts'
import { tellFailureOf } from '../pipeline/compiled/failure-reply.ts'
import { invalidBackend } from '../pipeline/compiled/invalid-backend.ts'
import { gatewayName, type ProxyIdentity } from '../pipeline/context/proxy-identity.ts'
import { type CurrentParts, LazyRoute, type MadeRoute, weightedPicker } from '../pipeline/compiled/lazy-route.ts'
import type { Env } from '../pipeline/context/step.ts'
import type { RequestMetrics } from '../telemetry/metrics/request-metrics.ts'
import type { RouteLabels } from '../telemetry/metrics/label-sets.ts'

export interface RouteServices {
  requestMetrics: RequestMetrics
  identity: ProxyIdentity
}

/** The inputs that all routes of a generation share. */
export interface RouteParts {
  index: IrIndex
  policies: PolicyIndex
  backends: Backends
  services: RouteServices
  /** The environment of steps, without the attachment, which differs per step. */
  env: Omit<Env, 'attachment'>
  /** Names of headers and query parameters, in lower case, that carry credentials. */
  credentials: ReadonlySet<string>
  containment: Containment
}

/** A route that is compiled when the first request matches it. */
export function lazyRoute(route: Route, listener: Listener, parts: CurrentParts<RouteParts>): LazyRoute<RouteParts> {
  return new LazyRoute(route, (given) => makeRoute(route, listener, given), parts)
}

function makeRoute(route: Route, listener: Listener, parts: RouteParts): MadeRoute {
  const { policies, backends, services, env, containment } = parts
  const unit = { kind: 'route', key: route.key } as const
  const entries = route.backends.map((entry) =>
    containment.make(
      unit,
      () => backends.forRoute(route, entry),
      (reason) => closedBackend(entry.backend, reason),
    ),
  )
  const assemble = (steps: CompiledSteps, to: CompiledBackend[], weights: readonly number[]): MadeRoute => ({
    ...steps,
    backends: to,
    pick: weightedPicker(weights),
    admits: null,
    count: services.requestMetrics(routeLabels(listener, route.name, to, services.identity)),
    tellFailure: tellFailureOf(to),
  })
  // Policies about requests do not apply to connections without HTTP.
  const isHttp = listener.protocol === 'HTTP' || listener.protocol === 'HTTPS'
  const body = widest(entries.map((entry) => entry.requestBody))
  return containment.make(
    unit,
    () => {
      const weights = route.backends.map((entry) => entry.weight)
      const effective = policies.traffic(routeKeys(route))
      if (!isHttp) {
        const phases = [policies.preRouting(route.listener), effective].map((each) => each.authorization?.configs ?? [])
        const shadows = [policies.preRoutingShadows(route.listener), policies.trafficShadows(routeKeys(route))]
        const { random, countShadow } = env
        const admits = connectionAuthorization(
          phases,
          shadows.flatMap(({ authorization }) => authorization?.configs ?? []),
          { identity: services.identity, random, countShadow },
        )
        return { ...assemble(NO_STEPS, entries, weights), admits }
      }
      // Sessions of the route win over those of its backends.
      const sessions = effective.sessionPersistence === undefined ? backends.sessionsOf(route) : null
      const made =
        sessions === null || sessions.size === 0
          ? {}
          : { sessionPersistence: backendSessions(sessions, { ...env, attachment: route.key }) }
      const shadows = policies.trafficShadows(routeKeys(route))
      return assemble(
        compileSteps(effective, env, { backendBody: body, made, shadows, containment, unit }),
        entries,
        weights,
      )
    },
    // Without its policies no request of the route may pass.
    (reason) => assemble(NO_STEPS, [closedBackend(route.key, reason)], [1]),
  )
}

/** Replaces a backend that cannot be compiled: requests to it get status 500. */
function closedBackend(key: string, reason: string): CompiledBackend {
  const identity = { key, name: 'invalid', kind: 'invalid', request: null, sign: null, response: null }
  return invalidBackend({ ...identity, requestBody: 'none', unhealthyCondition: null }, reason)
}

/** The position of a route among the attachment points of policies. */
function routeKeys(route: Route): { listener: string; key: string; parent: string } {
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
    backends: backends.map((backend) => ({ name: backend.name, protocol: WIRE_PROTOCOLS[listener.protocol] })),
  }
}

/** The label `protocol` of requests, connections and sessions; calls of language models and MCP have their own. */
const WIRE_PROTOCOLS = { HTTP: 'http', HTTPS: 'http', TLS: 'tcp', TCP: 'tcp', UDP: 'udp', HBONE: 'tcp' } as const
