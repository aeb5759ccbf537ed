import { keyOf, type Resource } from '../resources/resource.ts'

/** Sorts the older resource first, then by namespace and name. */
export function byAge(one: Resource, other: Resource): number {
  return compare(ageOf(one), ageOf(other))
}

/** A text with the same order as `byAge`. */
export function ageOf(resource: Resource): string {
  const created = Date.parse(resource.metadata.creationTimestamp ?? '')
  // A resource without a time counts as new, so that it does not displace an older one.
  const time = Number.isNaN(created) ? '9'.repeat(16) : String(created).padStart(16, '0')
  return `${time} ${keyOf(resource)}`
}

export function compare(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
