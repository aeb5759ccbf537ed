import type { AttachedPolicy, Backend, Ir, Route } from '../../ir/resources.ts'
import type { ConfigFault } from '../../pipeline/compiled/config-fault.ts'
import { printUnit, type QuarantinedResource } from '../../ir/quarantine.ts'
import { BACKEND, BIND, LISTENER, POLICY, REACHED, ROUTE, TARGETS } from './ir-shape.ts'
import { type Shape, unknownIn } from './shape.ts'

/**
 * `unknownParts` lists kinds, names and enum values that this version does not know: a controller of another version may
 * send them. None is ignored silently, because an unknown part may be the one that denies requests.
 */
export function unknownParts(ir: Ir): string[] {
  return [
    ...unknownFrame(ir),
    ...ir.routes.flatMap(inRoute),
    ...ir.backends.flatMap((one) => looked(one, () => inBackend(one))),
    ...ir.policies.flatMap(inPolicy),
  ]
}

/** A config in which resources with unknown parts are closed, each by itself. */
interface ClosedConfig {
  ir: Ir
  closed: QuarantinedResource[]
  /** Unknown parts that nothing smaller than the whole config can be closed for. */
  refusing: string[]
}

export function closeUnknown(ir: Ir): ClosedConfig {
  const closed: QuarantinedResource[] = []
  const [routes, backends, policies]: [Route[], Backend[], AttachedPolicy[]] = [[], [], []]
  const refusing = unknownFrame(ir)
  const reasonOf = (key: string, problems: readonly string[]): string =>
    problems.map((problem) => problem.slice(problem.startsWith(`${key}: `) ? key.length + 2 : 0)).join('; ')
  for (const backend of ir.backends) {
    const problems = looked(backend, () => inBackend(backend))
    const { key, name } = backend
    const problem = reasonOf(key, problems)
    if (problems.length > 0) closed.push({ object: key, problem, units: [printUnit({ kind: 'backend', key })] })
    backends.push(problems.length === 0 ? backend : { key, name, target: { kind: 'invalid', reason: problem } })
  }
  for (const route of ir.routes) {
    const problems = inRoute(route)
    if (problems.length === 0) {
      routes.push(route)
      continue
    }
    const { key } = route
    const problem = reasonOf(key, problems)
    const entry = `${key}/backend/unknown`
    closed.push({ object: key, problem, units: [printUnit({ kind: 'route', key })] })
    routes.push({ ...route, backends: [{ key: entry, backend: entry, weight: 1 }] })
    backends.push({ key: entry, name: 'invalid', target: { kind: 'invalid', reason: problem } })
  }
  for (const policy of ir.policies) {
    const problems = inPolicy(policy)
    const { key, target } = policy
    // A policy with an unknown target could apply to anything, so the whole config is rejected.
    if (problems.some((problem) => problem.includes('`target'))) refusing.push(...problems)
    const nothing = { frontend: null, traffic: null, phase: 'PostRouting', backend: null } as const
    policies.push(problems.length === 0 ? policy : { key, target, ...nothing, unknown: reasonOf(key, problems) })
  }
  return { ir: { ...ir, routes, backends, policies }, closed, refusing }
}

/** Unknown parts of ports and listeners, which belong to the owner of the Gateway, so the config is rejected. */
function unknownFrame({ binds, listeners }: Ir): string[] {
  return [
    ...binds.flatMap((one) => looked(one, () => namesIn(BIND, one))),
    ...listeners.flatMap((one) => looked(one, () => namesIn(LISTENER, one))),
  ]
}

function inRoute(route: Route): string[] {
  return looked(route, () => namesIn(ROUTE, route))
}

function inPolicy(policy: AttachedPolicy): string[] {
  return looked(policy, () => namesIn(POLICY, policy))
}

/** Resources are never changed in place, and most are in one config after the other. */
const fine = new WeakSet<object>()

function looked(resource: object, look: () => string[]): string[] {
  if (fine.has(resource)) return []
  const problems = look()
  if (problems.length === 0) fine.add(resource)
  return problems
}

function namesIn(shape: Shape, resource: { key: string }): string[] {
  return unknownIn(shape, resource, '').map(
    (place) => `${resource.key}: found \`${place}\`, which this version does not know`,
  )
}

function inBackend({ target, ...backend }: Backend): string[] {
  const { key } = backend
  if (!Object.hasOwn(TARGETS, target.kind)) return [`${key}: found a kind of backend that this version does not know`]
  const problems = namesIn({ ...BACKEND, target: TARGETS[target.kind] }, { ...backend, ...{ target } })
  if (target.kind !== 'mcp') return problems
  for (const { key: place, reached } of target.targets) {
    // Write access to resources of a cluster must not allow starting programs.
    if (reached.by === 'stdio') problems.push(`${place}: found a program to run, which only config files may have`)
    else if (!Object.hasOwn(REACHED, reached.by))
      problems.push(`${place}: found a kind of target that this version does not know`)
    else problems.push(...namesIn({ ...REACHED[reached.by], key: null }, { ...reached, ...{ key: place } }))
  }
  return problems
}

/** A fault with the resource that it is in, by name. */
export function explainIn(ir: Ir, { part, path, message }: ConfigFault): string | null {
  if (part === null) return null
  for (const resource of [...ir.policies, ...ir.backends, ...ir.routes, ...ir.listeners]) {
    const place = pathTo(part, resource)
    if (place !== null) return `${[resource.key, ...place, ...path].join('.')}: ${message}`
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
