import { keyOf, type Resource } from '../resources/resource.ts'

/** Of two that want the same the older one wins, then the one whose namespace and name come first. */
export function byAge(one: Resource, other: Resource): number {
  return compare(ageOf(one), ageOf(other))
}

/** A text that sorts as `byAge` does. */
export function ageOf(resource: Resource): string {
  const created = Date.parse(resource.metadata.creationTimestamp ?? '')
  // Without a time it is taken for new: it may not push aside what is known to be old.
  const time = Number.isNaN(created) ? '9'.repeat(16) : String(created).padStart(16, '0')
  return `${time} ${keyOf(resource)}`
}

export function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
