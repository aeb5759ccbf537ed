import type {
  HeldPolicy,
  PolicyOrigin,
  RoutesView,
  ViewedBind,
  ViewedListener,
  ViewedRoute,
} from '../../admin/config-view.ts'
import { EXPRESSION_KEYS, redact } from '../../redaction/redact.ts'
import { PoliciesByTarget } from '../../ir/policies-by-target.ts'
import { setsOfListeners } from '../../ir/merge.ts'
import type { AttachedPolicy, Ir, Listener, Route } from '../../ir/resources.ts'
import { joinedTraffic, trafficSteps } from '../../policies/order.ts'

type Section = 'frontend' | 'traffic' | 'backend'

const RUNNING_ORDER = Object.keys(trafficSteps)

/** `viewRoutes` lists routes with the policies that apply to them, from the farthest attachment to the nearest, as compilation merges them. */
export function viewRoutes(ir: Ir, generation: number, ports: Readonly<Record<string, number>>): RoutesView {
  const viewer = new Viewer(ir)
  return {
    generation,
    frontend: viewer.frontend(),
    binds: ir.binds.map(({ key, port, address }) => ({
      key,
      port: ports[key] ?? port,
      address,
      ...viewer.ofPort(key),
      listeners: ir.listeners.filter(({ bind }) => bind === key).map((listener) => viewer.listener(listener)),
    })),
  }
}

class Viewer {
  readonly #byTarget: PoliciesByTarget
  readonly #sets: ReadonlyMap<string, string>
  readonly #names: ReadonlyMap<string, string>
  readonly #routes = new Map<string, Route[]>()

  constructor({ policies, listeners, backends, routes }: Ir) {
    this.#byTarget = PoliciesByTarget.of(policies)
    this.#sets = setsOfListeners(listeners)
    this.#names = new Map(backends.map(({ key, name }) => [key, name]))
    for (const route of routes) this.#routes.set(route.listener, [...(this.#routes.get(route.listener) ?? []), route])
  }

  frontend(): HeldPolicy[] {
    return held(this.#byTarget.at('gateway', ''), 'frontend')
  }

  ofPort(bind: string): Pick<ViewedBind, 'frontend'> {
    const own = this.#byTarget.at('bind', bind)
    return own.length === 0 ? {} : { frontend: held([...this.#byTarget.at('gateway', ''), ...own], 'frontend') }
  }

  listener({ key, name, protocol, hostname }: Listener): ViewedListener {
    const near = this.#atListener(key)
    return {
      key,
      name,
      protocol,
      hostname,
      policies: held(inPhase('PreRouting', near), 'traffic'),
      routes: (this.#routes.get(key) ?? []).map((route) => this.#route(route, near)),
    }
  }

  #route(route: Route, atListener: readonly AttachedPolicy[]): ViewedRoute {
    const { key, name, rule, hostnames, matches, backends } = route
    const near = [
      ...atListener,
      ...this.#byTarget.at('route', `${route.listener}/${name}`),
      ...this.#byTarget.at('rule', key),
    ]
    return {
      key,
      name,
      rule,
      hostnames,
      matches,
      policies: held(inPhase('PostRouting', near), 'traffic'),
      backends: backends.map(({ key: entry, backend, weight }) => ({
        backend,
        name: this.#names.get(backend) ?? backend,
        weight,
        policies: held(
          [
            ...near,
            ...this.#byTarget.at('backend', backend),
            ...(entry === backend ? [] : this.#byTarget.at('backend', entry)),
          ],
          'backend',
        ),
      })),
    }
  }

  #atListener(key: string): AttachedPolicy[] {
    const set = this.#sets.get(key)
    return [
      ...this.#byTarget.at('gateway', ''),
      ...(set === undefined ? [] : this.#byTarget.at('listenerSet', set)),
      ...this.#byTarget.at('listener', key),
    ]
  }
}

function inPhase(phase: AttachedPolicy['phase'], policies: readonly AttachedPolicy[]): AttachedPolicy[] {
  return policies.filter((policy) => policy.phase === phase)
}

/** The effective policies: the nearest attachment, or all of them for policies that are joined. Other attachments are listed as origins. */
function held(attached: readonly AttachedPolicy[], section: Section): HeldPolicy[] {
  const sayers = new Map<string, { config: unknown; origin: PolicyOrigin }[]>()
  for (const policy of attached) {
    for (const [name, config] of Object.entries(policy[section] ?? {})) {
      if (config === undefined) continue
      const said = {
        config: redact({ [name]: config }, EXPRESSION_KEYS),
        origin: { key: policy.origin ?? policy.key, on: policy.target.kind },
      }
      sayers.set(name, [...(sayers.get(name) ?? []), said])
    }
  }
  const policies = [...sayers].map(([name, said]): HeldPolicy => {
    const isJoined = section === 'traffic' && (joinedTraffic as ReadonlySet<string>).has(name)
    const counted = isJoined ? said : said.slice(-1)
    return {
      name,
      configs: counted.map(({ config }) => (config as Record<string, unknown>)[name]),
      from: said.at(-1)?.origin ?? { key: '', on: 'gateway' },
      others: said.slice(0, -1).map(({ origin }) => origin),
      isJoined,
    }
  })
  return section === 'traffic' ? policies.toSorted((a, b) => orderOf(a) - orderOf(b)) : policies
}

function orderOf({ name }: HeldPolicy): number {
  return RUNNING_ORDER.indexOf(name)
}
