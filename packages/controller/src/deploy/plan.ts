import { createHash } from 'node:crypto'
import type { Resource } from '@portico/translate'
import { isOwnedBy } from './identity.ts'
import { textAt } from './json.ts'
import type { Deployed } from './objects.ts'
import { isSatisfied } from './satisfied.ts'

/** What is to be done so that what is there becomes what is wanted. */
export interface Plan {
  /** In this order. */
  apply: Deployed[]
  remove: Resource[]
  /** Objects that are not ours to change, each with the reason. */
  blocked: string[]
}

/** Says what was applied last. Without it, what is no longer wanted of an object would not be missed. */
export const APPLIED_ANNOTATION = 'portico.dev/applied'

/** `live` has the objects of the names that are wanted, whoever's they are, and all that bear the Gateway's labels. */
export function plan(live: readonly Resource[], wanted: readonly Deployed[], gateway: Resource): Plan {
  const liveByName = new Map(live.map((object) => [nameOf(object), object]))
  const wantedNames = new Set(wanted.map(nameOf))
  const result: Plan = { apply: [], remove: [], blocked: [] }
  let isAccountBlocked = false
  for (const object of wanted) {
    const found = liveByName.get(nameOf(object))
    const reason = found === undefined ? null : reasonNotToTouch(found, gateway)
    if (reason !== null) {
      result.blocked.push(`${nameOf(object)} ${reason}`)
      isAccountBlocked ||= object.kind === 'ServiceAccount'
    } else if (found === undefined || !isUpToDate(object, found)) result.apply.push(stamped(object))
  }
  // Pods would run with whatever rights a foreign account has.
  if (isAccountBlocked) result.apply = result.apply.filter(({ kind }) => kind !== 'Deployment')
  for (const object of live) {
    if (!wantedNames.has(nameOf(object)) && reasonNotToTouch(object, gateway) === null) result.remove.push(object)
  }
  return result
}

function reasonNotToTouch(object: Resource, gateway: Resource): string | null {
  if (!isOwnedBy(object, gateway)) return 'is there already and belongs to somebody else'
  return textAt(object.metadata, 'deletionTimestamp') === undefined ? null : 'is being deleted'
}

function isUpToDate(wanted: Deployed, live: Resource): boolean {
  return live.metadata.annotations?.[APPLIED_ANNOTATION] === digest(wanted) && isSatisfied(wanted, { ...live })
}

function stamped(object: Deployed): Deployed {
  const annotations = { ...object.metadata.annotations, [APPLIED_ANNOTATION]: digest(object) }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function digest(object: Deployed): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('hex')
}

/** `Service shop/edge`. */
export function nameOf({ kind, metadata: { namespace, name } }: Deployed | Resource): string {
  return `${kind} ${namespace ?? ''}/${name}`
}
