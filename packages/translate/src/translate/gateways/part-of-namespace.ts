import { type AttachedPolicy, type Backend, backendsNamedIn, type Ir, type Route } from '@portico/gateway/ir'

/**
 * Returns the config of a Gateway as the owner of one namespace may see it in tests: routes of other namespaces keep
 * their matches, which may win over those of the owner, and nothing else.
 */
export function partOfNamespace(ir: Ir, namespace: string): Ir {
  const kept = keptRoutes(ir.routes, namespace)
  const routes = ir.routes.map((route) => (kept.has(route.key) ? route : { ...route, labels: {}, backends: [] }))
  const keys = new Set([...ir.binds, ...ir.listeners].map(({ key }) => key))
  for (const { set } of ir.listeners) if (set !== undefined) keys.add(set)
  for (const key of kept) for (const prefix of prefixesOf(key)) keys.add(prefix)
  for (const route of routes) for (const { key } of route.backends) keys.add(key)
  const byKey = new Map(ir.backends.map((backend) => [backend.key, backend]))
  const backends = new Map<string, Backend>()
  const policies = new Set<AttachedPolicy>()
  // Policies and backends name further backends, which have policies of their own.
  for (let size = -1; size !== backends.size + policies.size;) {
    size = backends.size + policies.size
    const named = [...routes.flatMap((route) => route.backends.map(({ backend }) => backend))]
    for (const part of [...policies, ...backends.values()]) named.push(...backendsNamedIn(part))
    for (const key of named) {
      const backend = byKey.get(key)
      if (backend !== undefined) backends.set(key, backend)
    }
    for (const policy of ir.policies) if (appliesTo(policy, keys, backends)) policies.add(policy)
  }
  return {
    ...{ binds: ir.binds, listeners: ir.listeners, routes },
    backends: ir.backends.filter(({ key }) => backends.has(key)),
    policies: ir.policies.filter((policy) => policies.has(policy)),
  }
}

/** The keys of the routes of a namespace, and of those that delegate to them. */
function keptRoutes(routes: readonly Route[], namespace: string): ReadonlySet<string> {
  const byKey = new Map(routes.map((route) => [route.key, route]))
  const kept = new Set<string>()
  for (const route of routes) {
    if (!route.name.startsWith(`${namespace}/`)) continue
    for (let next: Route | undefined = route; next !== undefined && !kept.has(next.key);) {
      kept.add(next.key)
      next = next.within === undefined ? undefined : byKey.get(next.within)
    }
  }
  return kept
}

/** The key itself, and each part of it that ends before a `/`: policies for a route have the key before its rules. */
function prefixesOf(key: string): string[] {
  const ends = [...key.matchAll(/\//g)].map(({ index }) => index)
  return [key, ...ends.map((end) => key.slice(0, end))]
}

/** Parts of a backend have keys below its own. */
function appliesTo(
  { target }: AttachedPolicy,
  keys: ReadonlySet<string>,
  backends: ReadonlyMap<string, Backend>,
): boolean {
  if (target.kind === 'gateway' || keys.has(target.key)) return true
  return prefixesOf(target.key).some((prefix) => backends.has(prefix))
}
