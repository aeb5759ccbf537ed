import { createHash } from 'node:crypto'
import type { Resource } from '@portico/translate'
import { isOwnedBy } from './identity.ts'
import { textAt } from '@portico/translate/json'
import { type DeployedObject, isWorkload } from './objects.ts'
import { isSatisfied } from './satisfied.ts'

/** The steps that turn the live objects into the wanted ones. */
interface Plan {
  /** Objects to apply, in this order. */
  apply: DeployedObject[]
  remove: Resource[]
  /**
   * Objects that must not be changed, because they belong to somebody else or are being deleted; each with the reason.
   */
  blocked: string[]
}

/**
 * The annotation with a hash of the last applied object. Without it, a field that is no longer wanted would not be
 * noticed.
 */
export const APPLIED_ANNOTATION = 'portico.dev/applied'

/**
 * Plans the changes. `live` contains the objects with wanted names, whoever owns them, and all objects with the labels of
 * the Gateway.
 */
export function plan(live: readonly Resource[], wanted: readonly DeployedObject[], gateway: Resource): Plan {
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
    } else if (found === undefined || !isUpToDate(object, found)) result.apply.push(addAppliedAnnotation(object))
  }
  // Pods would run with the rights of a service account that is not ours.
  if (isAccountBlocked) result.apply = result.apply.filter(({ kind }) => !isWorkload(kind))
  for (const object of live) {
    if (!wantedNames.has(nameOf(object)) && reasonNotToTouch(object, gateway) === null) result.remove.push(object)
  }
  return result
}

function reasonNotToTouch(object: Resource, gateway: Resource): string | null {
  if (!isOwnedBy(object, gateway)) return 'already exists and is not owned by this Gateway'
  return textAt(object.metadata, 'deletionTimestamp') === undefined ? null : 'is being deleted'
}

function isUpToDate(wanted: DeployedObject, live: Resource): boolean {
  return live.metadata.annotations?.[APPLIED_ANNOTATION] === digest(wanted) && isSatisfied(wanted, { ...live })
}

function addAppliedAnnotation(object: DeployedObject): DeployedObject {
  const annotations = { ...object.metadata.annotations, [APPLIED_ANNOTATION]: digest(object) }
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function digest(object: DeployedObject): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('hex')
}

/** Returns `Service shop/edge`. */
export function nameOf({ kind, metadata: { namespace, name } }: DeployedObject | Resource): string {
  return `${kind} ${namespace ?? ''}/${name}`
}
