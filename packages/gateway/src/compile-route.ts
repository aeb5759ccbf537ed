import type { Backends } from './compile-backends.ts'
import type { PolicyIndex } from './ir/merge.ts'
import type { Backend, Listener, Route } from './ir/resources.ts'
import type { CompiledBackend, CompiledRoute } from './pipeline/compiled.ts'
import type { Env, MakeStep, Step } from './pipeline/step.ts'
import { weightedPicker } from './pipeline/weighted.ts'
import { responseOrder, type TrafficName, trafficSteps } from './policies/order.ts'
import type { TrafficPolicies } from './policies/index.ts'
import type { RecordRequest, RouteLabels } from './telemetry/request-metrics.ts'

export interface RouteServices {
  requestMetrics: (route: RouteLabels) => RecordRequest
  random: () => number
}

/** What all routes of a generation are made with. */
export interface RouteParts {
  policies: PolicyIndex
  backends: Backends
  backendsByKey: ReadonlyMap<string, Backend>
  services: RouteServices
}

/** A route that is put together when the first request meets it: of ten thousand routes most are never asked for. */
export class LazyRoute implements CompiledRoute {
  readonly key: string
  readonly name: string
  #make: (() => MadeRoute) | null
  #made: MadeRoute | null = null

  constructor(route: Route, listener: Listener, parts: RouteParts) {
    this.key = route.key
    this.name = route.name
    this.#make = () => makeRoute(route, listener, parts)
  }

  /** Whether it has been put together: until then it holds on to its whole generation. */
  get isMade(): boolean {
    return this.#made !== null
  }

  make(): MadeRoute {
    if (this.#made !== null) return this.#made
    this.#made = this.#make!()
    this.#make = null
    return this.#made
  }

  get request(): CompiledRoute['request'] {
    return this.make().request
  }

  get response(): CompiledRoute['response'] {
    return this.make().response
  }

  get backends(): CompiledRoute['backends'] {
    return this.make().backends
  }

  get pick(): CompiledRoute['pick'] {
    return this.make().pick
  }

  get count(): CompiledRoute['count'] {
    return this.make().count
  }
}

type MadeRoute = Pick<CompiledRoute, 'request' | 'response' | 'backends' | 'pick' | 'count'>

function makeRoute(route: Route, listener: Listener, { policies, backends, services }: RouteParts): MadeRoute {
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
    request: request.length === 0 ? null : request,
    response: response.length === 0 ? null : response,
    backends: entries,
    pick: weightedPicker(route.backends.map((entry) => entry.weight)),
    count: services.requestMetrics(routeLabels(listener, route.name, entries)),
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

export function routeLabels(listener: Listener, route: string, backends: readonly CompiledBackend[]): RouteLabels {
  return {
    bind: listener.bind,
    gateway: 'default/default',
    listener: listener.name,
    route,
    backends: backends.map((backend) => ({ name: backend.name, protocol: 'http' })),
  }
}

/** Everything a compiled route is made of, as text: equal texts behave equally. */
export function contentOf(route: Route, listener: Listener, { policies, backendsByKey }: RouteParts): string {
  const traffic = policies.traffic(listener.key, route.key)
  const mirrored = traffic.requestMirror?.backend
  const entries = route.backends.map((entry) => [
    backendsByKey.get(entry.backend),
    policies.backend({ listener: listener.key, route: route.key, backend: entry.backend, entry: entry.key }),
  ])
  const mirror =
    mirrored === undefined
      ? null
      : [backendsByKey.get(mirrored), policies.backend({ listener: '', route: '', backend: mirrored, entry: mirrored })]
  return JSON.stringify([
    route,
    listener.bind,
    listener.name,
    traffic,
    entries,
    mirror,
    policies.frontend().http?.maxBufferSize,
  ])
}

/** 2 MiB, as the schema has it. */
const DEFAULT_BUFFER = 2 * 1024 * 1024
