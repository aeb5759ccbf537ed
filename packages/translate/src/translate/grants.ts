import type { ObjectReference } from '../resources/references.ts'
import { readReferenceGrant } from '../resources/reference-grant.ts'
import type { Lookups } from '../resources/lookups.ts'

/** Whether a reference is allowed: always within a namespace, otherwise by a ReferenceGrant. */
export function isGranted(
  lookups: Pick<Lookups, 'list'>,
  from: { group: string; kind: string; namespace: string },
  to: ObjectReference,
): boolean {
  if (from.namespace === to.namespace) return true
  return lookups.list('ReferenceGrant', { by: 'namespace', value: to.namespace }).some((resource) => {
    const grant = readReferenceGrant(resource)
    return (
      grant.from.some(
        ({ group, kind, namespace }) => group === from.group && kind === from.kind && namespace === from.namespace,
      ) &&
      grant.to.some(
        ({ group, kind, name }) => group === to.group && kind === to.kind && (name === undefined || name === to.name),
      )
    )
  })
}
