const namesByResource = new WeakMap<object, readonly string[]>()

/** Keys of the backends that a resource names, anywhere in it. Resources do not change, so each is looked at once. */
export function backendsNamedIn(resource: object): readonly string[] {
  const known = namesByResource.get(resource)
  if (known !== undefined) return known
  const names = new Set<string>()
  collect(resource, names)
  const found = names.size === 0 ? NONE : [...names]
  namesByResource.set(resource, found)
  return found
}

const NONE: readonly string[] = []

function collect(value: unknown, names: Set<string>): void {
  if (typeof value === 'string') {
    if (isBackendName(value)) names.add(value)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const child of Object.values(value)) collect(child, names)
}

/** Whether policies may name it, as `schema/fields/references.ts` makes such keys. */
export function isBackendName(key: string): boolean {
  return BACKEND_NAME.test(key)
}

const BACKEND_NAME = /^(?:backend|host|url)\//
