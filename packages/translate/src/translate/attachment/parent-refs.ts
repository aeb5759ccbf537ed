import { Fields } from '../../resources/fields.ts'
import { type RouteKind, routeKinds } from '../../resources/kinds.ts'
import { type ParentRef, readParentRefs } from '../../resources/references.ts'
import type { Query } from '../context.ts'

/** The parents of a route or of a GwModel, by `Kind/namespace/name`. */
export const parentRefsOf: Query<ParentRef[]> = {
  name: 'parentRefsOf',
  compute(context, id) {
    const found = findAttachable(id)
    const resource = found === null ? undefined : context.get(found.kind, found.key)
    if (resource === undefined) return []
    return readParentRefs(new Fields(resource.spec, ['spec'], []), resource.metadata.namespace ?? '')
  },
}

/** Splits `Kind/namespace/name` of a route or of a GwModel. */
export function findAttachable(id: string): { kind: RouteKind | 'GwModel'; key: string } | null {
  return id.startsWith('GwModel/') ? { kind: 'GwModel', key: id.slice('GwModel/'.length) } : findRoute(id)
}

/** Splits `Kind/namespace/name`. */
export function findRoute(id: string): { kind: RouteKind; key: string } | null {
  const slash = id.indexOf('/')
  const kind = id.slice(0, slash)
  const found = routeKinds.find((each) => each === kind)
  return found === undefined ? null : { kind: found, key: id.slice(slash + 1) }
}
