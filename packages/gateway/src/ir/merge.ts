import type { BackendPolicies, FrontendPolicies, TrafficPolicies } from '../policies/index.ts'
import type { AttachedPolicy, Ir, PolicyTarget } from './resources.ts'

/** Which policies hold where. Each top-level field is replaced whole by the nearer attachment. */
export interface PolicyIndex {
  frontend(): FrontendPolicies
  /** Gateway, then listener, then route. */
  traffic(listener: string, route: string): TrafficPolicies
  /** Gateway, listener, route, then the backend, then the entry that names it. */
  backend(place: { listener: string; route: string; backend: string; entry: string }): BackendPolicies
}

export function indexPolicies(ir: Ir): PolicyIndex {
  const byTarget = new Map<string, AttachedPolicy[]>()
  for (const policy of ir.policies) {
    const key = targetKey(policy.target)
    const list = byTarget.get(key)
    if (list === undefined) byTarget.set(key, [policy])
    else list.push(policy)
  }
  const at = (kind: PolicyTarget['kind'], key = ''): AttachedPolicy[] => byTarget.get(`${kind} ${key}`) ?? NONE
  const frontend = merge(at('gateway'), 'frontend')
  return {
    frontend: () => frontend,
    traffic: (listener, route) =>
      merge([...at('gateway'), ...at('listener', listener), ...at('route', route)], 'traffic'),
    backend: ({ listener, route, backend, entry }) =>
      merge(
        [
          ...at('gateway'),
          ...at('listener', listener),
          ...at('route', route),
          ...at('backend', backend),
          ...(entry === backend ? NONE : at('backend', entry)),
        ],
        'backend',
      ),
  }
}

const NONE: AttachedPolicy[] = []

function targetKey(target: PolicyTarget): string {
  return target.kind === 'gateway' ? 'gateway ' : `${target.kind} ${target.key}`
}

function merge<S extends 'frontend' | 'traffic' | 'backend'>(
  policies: readonly AttachedPolicy[],
  section: S,
): NonNullable<AttachedPolicy[S]> {
  return Object.assign({}, ...policies.map((policy) => policy[section] ?? {})) as NonNullable<AttachedPolicy[S]>
}
