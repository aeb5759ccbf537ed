import { trafficPolicies } from '@portico/gateway/schema'
import { isObject } from '@portico/http/json'
import { groupByKind } from '../../resources/kinds.ts'
import { type ObjectReference, printReference } from '../../resources/references.ts'
import type { Resource } from '../../resources/resource.ts'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'

/** The filters of type ExtensionRef of a rule. */
interface ExtensionFilters {
  /** GwFilters, by `namespace/name`. */
  filters: string[]
  /** Why no request of the rule may pass: a filter must not be skipped. */
  closed: Unusable | null
  /** Why the filters cannot be combined. */
  refusal: Unusable | null
}

const JOINED: ReadonlySet<string> = new Set(
  trafficPolicies.filter(({ merge }) => merge === 'join').map(({ name }) => name),
)

/** Resolves the filters; `taken` are the policies that the rule has by its other filters and fields. */
export function resolveExtensions(
  context: Context,
  references: readonly ObjectReference[],
  taken: readonly string[],
): ExtensionFilters {
  const none = { filters: [], closed: null, refusal: null }
  const setBy = new Map(taken.map((name) => [name, 'the rule']))
  const filters = new Set<string>()
  for (const to of references) {
    if (to.kind !== 'GwFilter' || to.group !== groupByKind.GwFilter) {
      const kind = to.group === '' ? to.kind : `${to.kind}.${to.group}`
      return { ...none, closed: { reason: 'InvalidKind', message: `${kind} cannot be a filter` } }
    }
    const key = `${to.namespace}/${to.name}`
    const resource = context.get('GwFilter', key)
    if (resource === undefined) {
      return { ...none, closed: { reason: 'BackendNotFound', message: `${printReference(to)} not found` } }
    }
    if (filters.has(key)) continue
    filters.add(key)
    for (const name of fieldsIn(resource)) {
      const other = setBy.get(name)
      if (other !== undefined && !JOINED.has(name)) {
        const message = `traffic.${name} of ${printReference(to)} is also set by ${other}`
        return { ...none, refusal: { reason: 'IncompatibleFilters', message } }
      }
      setBy.set(name, printReference(to))
    }
  }
  return { filters: [...filters], closed: null, refusal: null }
}

function fieldsIn({ spec }: Resource): string[] {
  const traffic = isObject(spec) ? spec['traffic'] : undefined
  return isObject(traffic) ? Object.keys(traffic) : []
}
