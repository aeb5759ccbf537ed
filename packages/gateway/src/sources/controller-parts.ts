import type { BackendTarget, Ir, McpReached } from '../ir/resources.ts'
import { backendPolicies, frontendPolicies, trafficPolicies } from '../policies/index.ts'
import type { ConfigFault } from '../pipeline/config-fault.ts'

/**
 * What a controller of another version may send and this one does not know. Nothing of it is left out in silence: a policy
 * that nobody runs may be the one that keeps strangers away.
 */
export function unknownParts(ir: Ir): string[] {
  const problems: string[] = []
  for (const { key, target } of ir.backends) {
    if (!KINDS.has(target.kind)) problems.push(`${key}: found a kind of backend that is not known here`)
    if (target.kind !== 'mcp') continue
    for (const { key: place, reached } of target.targets) {
      if (!REACHED.has(reached.by)) problems.push(`${place}: found a kind of target that is not known here`)
      // Who may write resources of a cluster may not have programs started.
      if (reached.by === 'stdio') problems.push(`${place}: found a program to run, which is for config files alone`)
    }
  }
  for (const { key, ...policy } of ir.policies) {
    if (!TARGETS.has(policy.target.kind)) problems.push(`${key}: found a kind of target that is not known here`)
    if (!PHASES.has(policy.phase)) problems.push(`${key}: found a phase that is not known here`)
    for (const section of SECTIONS) {
      for (const name of Object.keys(policy[section] ?? {})) {
        if (!NAMES[section].has(name)) problems.push(`${key}: found \`${section}.${name}\`, which is not known here`)
      }
    }
  }
  for (const { key, protocol } of ir.listeners) {
    if (!PROTOCOLS.has(protocol)) problems.push(`${key}: found a protocol that is not known here`)
  }
  return problems
}

/** A fault with the resource that it is in, by name. */
export function explainIn(ir: Ir, { part, path, found, expected }: ConfigFault): string | null {
  if (part === null) return null
  for (const resource of [...ir.policies, ...ir.backends, ...ir.routes, ...ir.listeners]) {
    const place = pathTo(part, resource)
    if (place !== null) return `${[resource.key, ...place, ...path].join('.')}: ${found}, expected ${expected}`
  }
  return null
}

function pathTo(part: object, value: unknown): string[] | null {
  if (value === part) return []
  if (typeof value !== 'object' || value === null) return null
  for (const [name, child] of Object.entries(value)) {
    const rest = pathTo(part, child)
    if (rest !== null) return [name, ...rest]
  }
  return null
}

const SECTIONS = ['frontend', 'traffic', 'backend'] as const
const NAMES: Readonly<Record<(typeof SECTIONS)[number], ReadonlySet<string>>> = {
  frontend: new Set(frontendPolicies.map(({ name }) => name)),
  traffic: new Set(trafficPolicies.map(({ name }) => name)),
  backend: new Set(backendPolicies.map(({ name }) => name)),
}
/** Of records, so that what is added to a type is added here. */
const known = <Kind extends string>(kinds: Record<Kind, true>): ReadonlySet<string> => new Set(Object.keys(kinds))
const KINDS = known<BackendTarget['kind']>({
  static: true,
  unix: true,
  service: true,
  invalid: true,
  dynamicForwardProxy: true,
  ai: true,
  agentCore: true,
  mcp: true,
})
const REACHED = known<McpReached['by']>({
  http: true,
  stdio: true,
  openapi: true,
})
const TARGETS = known<Ir['policies'][number]['target']['kind']>({
  gateway: true,
  listenerSet: true,
  listener: true,
  route: true,
  rule: true,
  backend: true,
})
const PHASES = known<Ir['policies'][number]['phase']>({ PreRouting: true, PostRouting: true })
const PROTOCOLS = known<Ir['listeners'][number]['protocol']>({ HTTP: true, HTTPS: true, TLS: true, TCP: true })
