import type { Ir } from './resources.ts'
import type { ConfigFault } from '../pipeline/compiled/config-fault.ts'
import type { ConfigUnit, UnitFault } from '../pipeline/compiled/containment.ts'

/** A resource at fault that is closed, while the rest of its config is live. */
export interface QuarantinedResource {
  /** Key of the resource; the key of the closed unit if the resource at fault is not known. */
  object: string
  problem: string
  /** The units that are closed because of this resource, as `printUnit` prints them. */
  units: string[]
}

/** Groups the units that faults close by the resource at fault and its problem. */
export function quarantinedBy(ir: Ir, faults: readonly UnitFault[]): QuarantinedResource[] {
  if (faults.length === 0) return []
  const owners = ownersOf(ir, new Set(faults.flatMap(({ fault }) => fault.part ?? [])))
  const found = new Map<string, QuarantinedResource>()
  for (const { unit, fault } of faults) {
    const { object, problem } = describe(fault, unit, owners)
    const id = `${object} ${problem}`
    const known = found.get(id) ?? { object, problem, units: [] }
    known.units.push(printUnit(unit))
    found.set(id, known)
  }
  return [...found.values()].map((each) => ({ ...each, units: [...new Set(each.units)] }))
}

export function printUnit({ kind, key }: ConfigUnit): string {
  return `${kind} ${key}`
}

/** Parses a unit; undefined when the text is not a unit. */
export function readUnit(text: string): ConfigUnit | undefined {
  const space = text.indexOf(' ')
  const kind = KINDS.find((each) => each === text.slice(0, space))
  return kind === undefined ? undefined : { kind, key: text.slice(space + 1) }
}

const KINDS = ['gateway', 'bind', 'listener', 'route', 'backend'] as const

interface Owner {
  key: string
  /** The path from the resource to the part. */
  path: readonly string[]
}

function describe(
  { part, path, message }: ConfigFault,
  unit: ConfigUnit,
  owners: ReadonlyMap<object, Owner>,
): Pick<QuarantinedResource, 'object' | 'problem'> {
  const owner = part === null ? undefined : owners.get(part)
  if (owner === undefined) return { object: unit.key, problem: message }
  const place = [...owner.path, ...path].join('.')
  return { object: owner.key, problem: place === '' ? message : `${place}: ${message}` }
}

/** Finds the resources that contain the parts, in one walk over the config for any number of faults. */
function ownersOf(ir: Ir, parts: ReadonlySet<object>): Map<object, Owner> {
  const owners = new Map<object, Owner>()
  const look = (value: unknown, key: string, path: readonly string[]): void => {
    if (typeof value !== 'object' || value === null || owners.size === parts.size) return
    if (parts.has(value) && !owners.has(value)) owners.set(value, { key, path })
    for (const [name, child] of Object.entries(value)) {
      if (typeof child === 'object' && child !== null) look(child, key, [...path, name])
    }
  }
  for (const resource of [...ir.policies, ...ir.backends, ...ir.routes, ...ir.listeners, ...ir.binds]) {
    look(resource, resource.key, [])
  }
  return owners
}
