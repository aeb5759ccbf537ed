import type { Backend, Ir } from '../ir/resources.ts'
import type { ConfigFault } from '../pipeline/config-fault.ts'
import { BACKEND, BIND, LISTENER, POLICY, REACHED, ROUTE, TARGETS } from './ir-shape.ts'
import { type Shape, unknownIn } from './known-shape.ts'

/**
 * What a controller of another version may send and this one does not know: kinds, names and words, wherever they stand.
 * Nothing of it is left out in silence: what nobody runs may be what keeps strangers away.
 */
export function unknownParts(ir: Ir): string[] {
  return [
    ...ir.binds.flatMap((one) => looked(one, () => namesIn(BIND, one))),
    ...ir.listeners.flatMap((one) => looked(one, () => namesIn(LISTENER, one))),
    ...ir.routes.flatMap((one) => looked(one, () => namesIn(ROUTE, one))),
    ...ir.backends.flatMap((one) => looked(one, () => inBackend(one))),
    ...ir.policies.flatMap((one) => looked(one, () => namesIn(POLICY, one))),
  ]
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
  return unknownIn(shape, resource, '').map((place) => `${resource.key}: found \`${place}\`, which is not known here`)
}

function inBackend({ target, ...backend }: Backend): string[] {
  const { key } = backend
  if (!Object.hasOwn(TARGETS, target.kind)) return [`${key}: found a kind of backend that is not known here`]
  const problems = namesIn({ ...BACKEND, target: TARGETS[target.kind] }, { ...backend, ...{ target } })
  if (target.kind !== 'mcp') return problems
  for (const { key: place, reached } of target.targets) {
    // Who may write resources of a cluster may not have programs started.
    if (reached.by === 'stdio') problems.push(`${place}: found a program to run, which is for config files alone`)
    else if (!Object.hasOwn(REACHED, reached.by))
      problems.push(`${place}: found a kind of target that is not known here`)
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
