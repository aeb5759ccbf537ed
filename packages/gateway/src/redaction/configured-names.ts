/**
 * `credentialNames` returns the headers and parameters, in lower case, that policies of the config name as carriers of
 * credentials: `location: { header: { name: x-team-pass } }`.
 */
export function credentialNames({ policies }: { policies: readonly object[] }): ReadonlySet<string> {
  const names = new Set<string>()
  for (const policy of policies) for (const name of namesOf(policy)) names.add(name)
  return names
}

/** A policy that a reload leaves alone is the same object. */
const namesByPolicy = new WeakMap<object, readonly string[]>()

function namesOf(policy: object): readonly string[] {
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
