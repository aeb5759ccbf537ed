import type { AttachedPolicy, Ir, PolicyTarget, Route } from '@portico/gateway/ir'
import type { BackendPolicies, TrafficPolicies } from '@portico/gateway/schema'

/** Fields of a route that delegates which are defaults: routes within it may set their own values. */
const DEFAULTS: readonly string[] = ['timeouts', 'retry']

/** Fields of a route that delegates which hold together with those of the routes within it. */
export const COMBINED: readonly string[] = ['headerModifiers', 'requestMirror', 'urlRewrite']

/**
 * Repeats the policies of routes that delegate for the routes within them. They win over those of the routes within,
 * so that no route can lift what the route above demands; the policies of the topmost route win over all. Fields that
 * can hold together are combined, and `timeouts`, `retry` and policies for backends are only defaults.
 */
export function inheritPolicies({ routes, policies }: Pick<Ir, 'routes' | 'policies'>): void {
  if (!routes.some(({ within }) => within !== undefined)) return
  const routesByKey = new Map(routes.map((route) => [route.key, route]))
  const byTarget = Map.groupBy(policies, ({ target }) => printTarget(target))
  const policiesOf = ({ listener, name, key }: Route): AttachedPolicy[] => [
    ...(byTarget.get(printTarget({ kind: 'route', key: `${listener}/${name}` })) ?? []),
    ...(byTarget.get(printTarget({ kind: 'rule', key })) ?? []),
  ]
  for (const route of routes) {
    // No request reaches the pipeline of a route that delegates.
    if (route.within === undefined || route.delegates === true) continue
    let nearer = fieldsOf(policiesOf(route))
    for (let above = routesByKey.get(route.within); above !== undefined; above = parentOf(above, routesByKey)) {
      const inherited = policiesOf(above).map((policy) => inherit(policy, route, nearer))
      policies.push(...inherited)
      const own = fieldsOf(inherited)
      nearer = { traffic: { ...nearer.traffic, ...own.traffic }, backend: { ...nearer.backend, ...own.backend } }
    }
  }
}

function parentOf({ within }: Route, routesByKey: ReadonlyMap<string, Route>): Route | undefined {
  return within === undefined ? undefined : routesByKey.get(within)
}

interface PolicyFields {
  traffic: TrafficPolicies
  backend: BackendPolicies
}

/** The fields of several policies for one object; later policies win. */
function fieldsOf(policies: readonly AttachedPolicy[]): PolicyFields {
  return {
    traffic: Object.assign({}, ...policies.map(({ traffic }) => traffic ?? {})) as TrafficPolicies,
    backend: Object.assign({}, ...policies.map(({ backend }) => backend ?? {})) as BackendPolicies,
  }
}

/** Returns the policy of a route above for a route within it. */
function inherit(policy: AttachedPolicy, { key }: Route, nearer: PolicyFields): AttachedPolicy {
  const traffic = without(policy.traffic, (name) => DEFAULTS.includes(name) && name in nearer.traffic)
  return {
    ...policy,
    key: inheritedKey(policy.key, key),
    origin: policy.origin ?? policy.key,
    target: { kind: 'rule', key },
    traffic: traffic === null ? null : combine(traffic, nearer.traffic),
    backend: without(policy.backend, (name) => name in nearer.backend),
  }
}

/** The key of a policy that a route inherits. */
function inheritedKey(policy: string, route: string): string {
  return `${policy} > ${route}`
}

function without<Fields extends object>(fields: Fields | null, isLeftOut: (name: string) => boolean): Fields | null {
  if (fields === null) return null
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isLeftOut(name))) as Fields
}

/** Combines fields that can hold together: changes of headers, mirrors, and the two parts of a rewrite. */
function combine(above: TrafficPolicies, nearer: TrafficPolicies): TrafficPolicies {
  const { headerModifiers, requestMirror, urlRewrite } = above
  return {
    ...above,
    ...(headerModifiers !== undefined && {
      headerModifiers: {
        ...joinedHeaders(headerModifiers, nearer.headerModifiers, 'request'),
        ...joinedHeaders(headerModifiers, nearer.headerModifiers, 'response'),
      },
    }),
    ...(requestMirror !== undefined && { requestMirror: joinedMirrors(requestMirror, nearer.requestMirror) }),
    ...(urlRewrite !== undefined && { urlRewrite: { ...nearer.urlRewrite, ...urlRewrite } }),
  }
}

type HeaderModifiers = NonNullable<TrafficPolicies['headerModifiers']>

/** The changes of the route above come first. */
function joinedHeaders(
  above: HeaderModifiers,
  nearer: HeaderModifiers | undefined,
  side: 'request' | 'response',
): HeaderModifiers {
  const [first, second] = [above[side], nearer?.[side]]
  if (first === undefined || second === undefined) {
    const only = first ?? second
    return only === undefined ? {} : { [side]: only }
  }
  const join = <Item>(one: Item[] | undefined, other: Item[] | undefined): Item[] | undefined =>
    one === undefined && other === undefined ? undefined : [...(one ?? []), ...(other ?? [])]
  const [set, add, remove] = [
    join(first.set, second.set),
    join(first.add, second.add),
    join(first.remove, second.remove),
  ]
  return {
    [side]: {
      ...(set !== undefined && { set }),
      ...(add !== undefined && { add }),
      ...(remove !== undefined && { remove }),
    },
  }
}

type RequestMirror = NonNullable<TrafficPolicies['requestMirror']>

function joinedMirrors(above: RequestMirror, nearer: RequestMirror | undefined): RequestMirror {
  if (nearer === undefined) return above
  const { others: more = [], ...first } = nearer
  return { ...above, others: [...(above.others ?? []), first, ...more] }
}

function printTarget(target: PolicyTarget): string {
  return target.kind === 'gateway' ? 'gateway' : `${target.kind} ${target.key}`
}
