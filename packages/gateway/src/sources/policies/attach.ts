import { sectionKey } from '../../ir/backend-targets.ts'
import type { AttachedPolicy, Ir, PolicyTarget } from '../../ir/resources.ts'
import { backendKey } from '../../schema/fields/references.ts'
import type { TargetedPolicyConfig } from './schema.ts'

/** The objects of the file that policies may target. */
interface PolicyTargets {
  ir: Ir
  config: { backends: readonly { name: string; labels: Readonly<Record<string, string>> }[] }
}

/** One attachment for each object that the policy names or selects. */
export function attachTargeted(policy: TargetedPolicyConfig, known: PolicyTargets): AttachedPolicy[] {
  const { phase = 'PostRouting', ...traffic } = policy.traffic ?? {}
  return targetsOf(policy, known).map((target) => ({
    key: `policy/${policy.name}@${targetKey(target)}`,
    target,
    frontend: policy.frontend ?? null,
    traffic: policy.traffic === undefined ? null : traffic,
    phase,
    backend: policy.backend ?? null,
  }))
}

export function targetKey(target: PolicyTarget): string {
  return target.kind === 'gateway' ? 'gateway' : `${target.kind}/${target.key}`
}

function targetsOf(
  { targetRefs = [], targetSelectors = [] }: TargetedPolicyConfig,
  known: PolicyTargets,
): PolicyTarget[] {
  const named = targetRefs.flatMap(({ kind, name, sectionName }): PolicyTarget[] => {
    switch (kind) {
      case 'Gateway':
        return sectionName === undefined ? [{ kind: 'gateway' }] : listenersNamed(sectionName, known)
      case 'Route':
        return routesWhere((route) => route.name === name, sectionName, known)
      case 'Backend':
        return [
          {
            kind: 'backend',
            key: sectionName === undefined ? backendKey(name) : sectionKey(backendKey(name), sectionName),
          },
        ]
    }
  })
  const selected = targetSelectors.flatMap(({ kind, matchLabels, sectionName }): PolicyTarget[] => {
    const matches = (labels: Readonly<Record<string, string>>): boolean =>
      Object.entries(matchLabels).every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value)
    if (kind === 'Route') return routesWhere((route) => matches(route.labels), sectionName, known)
    return known.config.backends
      .filter((backend) => matches(backend.labels))
      .map((backend) => ({ kind: 'backend', key: backendKey(backend.name) }))
  })
  // Two selectors may find the same object.
  return [...new Map([...named, ...selected].map((target) => [targetKey(target), target])).values()]
}

function listenersNamed(name: string, { ir }: PolicyTargets): PolicyTarget[] {
  return ir.listeners
    .filter((listener) => listener.name === name)
    .map((listener) => ({ kind: 'listener', key: listener.key }))
}

function routesWhere(
  matches: (route: Ir['routes'][number]) => boolean,
  rule: string | undefined,
  { ir }: PolicyTargets,
): PolicyTarget[] {
  const routes = ir.routes.filter(matches)
  if (rule === undefined) return routes.map((route) => ({ kind: 'route', key: parentOf(route) }))
  return routes.filter((route) => route.rule === rule).map((route) => ({ kind: 'rule', key: route.key }))
}

/** The key of the route that a rule belongs to. */
function parentOf(route: Ir['routes'][number]): string {
  return `${route.listener}/${route.name}`
}
