import type { RehearsalRefusal } from '../../admin/rehearsal/rehearsal-api.ts'
import { didYouMean } from '../../formats/suggest.ts'
import { indexPolicies, setsOfListeners } from '../../ir/merge.ts'
import { PoliciesByTarget } from '../../ir/policies-by-target.ts'
import type { Ir, Route } from '../../ir/resources.ts'
import { joinedTraffic } from '../../policies/order.ts'

interface RehearsalTargets {
  /** The keys of the route entries or providers that the rehearsal attaches policies to. */
  readonly keys: readonly string[]
  /** The keys of the routes whose calls the rehearsal may affect. */
  readonly routes: readonly string[]
}

interface RehearsalSubject {
  readonly kind: 'backend' | 'route'
  readonly name: string
}

/**
 * Finds the calls that a rehearsal affects. Its targets are the entries of routes, not the backend itself, so calls of
 * policies, such as calls to an external authorizer, are never affected.
 */
export function findTargets(ir: Ir, subject: RehearsalSubject): RehearsalTargets | RehearsalRefusal {
  const found = subject.kind === 'route' ? targetsOfRoute(ir, subject.name) : targetsOfBackend(ir, subject.name)
  if ('problem' in found) return found
  const permanent = permanentRehearsal(ir, new Set(found.routes))
  return permanent ?? found
}

function targetsOfRoute(ir: Ir, name: string): RehearsalTargets | RehearsalRefusal {
  const routes = httpRoutes(ir).filter((route) => route.name === name || route.key === name)
  if (routes.length === 0) return unknown('HTTP route', name, [...new Set(httpRoutes(ir).map((route) => route.name))])
  const keys = routes.flatMap(({ backends }) => backends.map(({ key }) => key))
  if (keys.length > 0) return { keys, routes: routes.map(({ key }) => key) }
  return { status: 409, problem: `the route ${name} calls no backend, so there is nothing to rehearse` }
}

function targetsOfBackend(ir: Ir, name: string): RehearsalTargets | RehearsalRefusal {
  const backends = ir.backends.filter((backend) => backend.name === name || backend.key === name)
  const owners = new Set(backends.map(({ key }) => key))
  if (owners.size > 0) {
    const routes = httpRoutes(ir).filter((route) => route.backends.some(({ backend }) => owners.has(backend)))
    const keys = routes.flatMap((route) =>
      route.backends.flatMap((entry) => (owners.has(entry.backend) ? entry.key : [])),
    )
    if (keys.length > 0) return { keys, routes: routes.map(({ key }) => key) }
    return { status: 409, problem: `no HTTP route calls the backend ${name}, so there is nothing to rehearse` }
  }
  return targetsOfProvider(ir, name)
}

/** `name` is the name of a provider of models, or `<backend>/<provider>`. */
function targetsOfProvider(ir: Ir, name: string): RehearsalTargets | RehearsalRefusal {
  const providers = ir.backends.flatMap(({ key: backend, name: owner, target }) =>
    target.kind === 'ai'
      ? target.groups.flat().map((provider) => ({ backend, key: provider.key, name: provider.name, owner }))
      : [],
  )
  const found = providers.filter((each) => each.name === name || `${each.owner}/${each.name}` === name)
  const [first, second] = found
  if (first === undefined)
    return unknown(
      'backend',
      name,
      [...ir.backends, ...providers].map((each) => each.name),
    )
  if (second !== undefined) {
    const choice = found.map((each) => `${each.owner}/${each.name}`).join(', ')
    return { status: 409, problem: `several backends have a provider ${name}: name one of ${choice}` }
  }
  const routes = httpRoutes(ir).filter((route) => route.backends.some(({ backend }) => backend === first.backend))
  if (routes.length > 0) return { keys: [first.key], routes: routes.map(({ key }) => key) }
  return { status: 409, problem: `no HTTP route calls the backend ${first.owner}, so there is nothing to rehearse` }
}

function httpRoutes({ routes, listeners }: Ir): Route[] {
  const keys = new Set(listeners.flatMap(({ key, protocol }) => (/^HTTPS?$/.test(protocol) ? key : [])))
  return routes.filter(({ listener }) => keys.has(listener))
}

/**
 * Returns the refusal of a rehearsal on routes with `delay` or `abort` policies in the config; null without such
 * policies.
 */
function permanentRehearsal(ir: Ir, keys: ReadonlySet<string>): RehearsalRefusal | null {
  const index = indexPolicies(PoliciesByTarget.of(ir.policies), joinedTraffic, setsOfListeners(ir.listeners))
  for (const { key, listener, name } of ir.routes) {
    if (!keys.has(key)) continue
    const { delay, abort } = index.traffic({ listener, key, parent: `${listener}/${name}` })
    if (delay === undefined && abort === undefined) continue
    const policy = delay === undefined ? 'abort' : 'delay'
    return { status: 409, problem: `the route ${key} has the policy ${policy} in its config: remove the policy first` }
  }
  return null
}

function unknown(what: string, name: string, known: readonly string[]): RehearsalRefusal {
  const hint = didYouMean(name, known)
  return { status: 404, problem: `there is no ${what} ${name}${hint === null ? '' : `; ${hint}`}` }
}
