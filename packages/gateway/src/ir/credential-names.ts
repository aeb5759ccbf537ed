import type { AttachedPolicy, Ir } from './resources.ts'

/** Headers and parameters that the config says credentials stand in: `location: { header: { name: x-team-pass } }`. */
export function credentialNames({ policies }: Pick<Ir, 'policies'>): ReadonlySet<string> {
  const names = new Set<string>()
  for (const policy of policies) for (const name of namesOf(policy)) names.add(name)
  return names
}

/** A policy that a reload leaves alone is the same object. */
const namesByPolicy = new WeakMap<AttachedPolicy, readonly string[]>()

function namesOf(policy: AttachedPolicy): readonly string[] {
  const known = namesByPolicy.get(policy)
  if (known !== undefined) return known
  const names: string[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [field, child] of Object.entries(node)) {
      if (field === 'location') names.push(...namesIn(child))
      visit(child)
    }
  }
  visit(policy)
  namesByPolicy.set(policy, names)
  return names
}

function namesIn(location: unknown): string[] {
  if (typeof location !== 'object' || location === null) return []
  return Object.values(location).flatMap((place: unknown) =>
    typeof place === 'object' && place !== null && 'name' in place && typeof place.name === 'string'
      ? place.name.toLowerCase()
      : [],
  )
}
