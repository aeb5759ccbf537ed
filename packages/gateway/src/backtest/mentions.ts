import type { Ir, PolicyTarget } from '../ir/resources.ts'

interface MentionedOn {
  readonly route: { readonly key: string; readonly name: string } | null
}

/**
 * Returns the function that tells whether a policy that may apply to a request contains the pattern. Policies of
 * listeners and backends count for every route, because an unneeded match is safe.
 */
export function mentions(ir: Ir, pattern: RegExp): (request: MentionedOn) => boolean {
  const targets = ir.policies.filter((policy) => pattern.test(JSON.stringify(policy))).map(({ target }) => target)
  const isOnBackends = ir.backends.some((backend) => pattern.test(JSON.stringify(backend)))
  if (targets.length === 0 && !isOnBackends) return () => false
  const isForAll = isOnBackends || targets.some(({ kind }) => kind !== 'route' && kind !== 'rule')
  if (isForAll) return () => true
  const keys = new Set(targets.map((target) => keyOf(target)))
  return ({ route }) =>
    route === null || keys.has(route.key) || [...keys].some((key) => route.key.startsWith(`${key}/`))
}

function keyOf(target: PolicyTarget): string {
  return target.kind === 'gateway' ? '' : target.key
}
