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
  const found: string[] = []
  addNames(policy as Record<string, unknown>, found)
  // Most policies of a large config have none.
  const names = found.length === 0 ? NONE : found
  namesByPolicy.set(policy, names)
  return names
}

const NONE: readonly string[] = []

function addNames(node: Readonly<Record<string, unknown>>, names: string[]): void {
  for (const field in node) {
    const child = node[field]
    if (typeof child !== 'object' || child === null) continue
    if (field === 'location') names.push(...namesIn(child))
    addNames(child as Record<string, unknown>, names)
  }
}

function namesIn(location: object): string[] {
  return Object.values(location).flatMap((place: unknown) =>
    typeof place === 'object' && place !== null && 'name' in place && typeof place.name === 'string'
      ? place.name.toLowerCase()
      : [],
  )
}
