import { Fields } from '../../resources/fields.ts'
import type { RouteKind } from '../../resources/kinds.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Query } from '../context.ts'
import { findRoute } from './parent-refs.ts'

/** The hostnames of a route. A separate query, because listeners do not depend on rules. */
export const routeHostnames: Query<string[]> = {
  name: 'routeHostnames',
  compute(context, id) {
    const found = findRoute(id)
    const resource = found === null ? undefined : context.get(found.kind, found.key)
    if (found === null || resource === undefined || isWithoutHostnames(found.kind)) return []
    return specOf(resource)
      .texts('hostnames')
      .map((hostname) => hostname.toLowerCase())
  },
}

/** Whether routes of the kind have no hostnames. */
export function isWithoutHostnames(kind: RouteKind): boolean {
  return kind === 'TCPRoute' || kind === 'UDPRoute'
}

function specOf({ spec }: Resource): Fields {
  return new Fields(spec, ['spec'], [])
}
