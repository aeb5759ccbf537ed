import { readGateway } from '../../resources/gateway.ts'
import { type ListenerSetKind, listenerSetKinds } from '../../resources/kinds.ts'
import { isSelected } from '../../resources/label-selector.ts'
import type { ListenerSpec } from '../../resources/listener.ts'
import { keyOf, type Resource } from '../../resources/resource.ts'
import type { Context, Query } from '../context.ts'
import { byAge } from '../precedence.ts'

/** The ListenerSets that a Gateway accepts, the oldest first. */
export const listenerSetsOf: Query<{ kind: ListenerSetKind; key: string }[]> = {
  name: 'listenerSetsOf',
  compute(context, key) {
    return listenerSetKinds
      .flatMap((kind) => context.list(kind, { by: 'gateway', value: key }).map((set) => ({ kind, set })))
      .filter(({ kind, set }) => isAllowed(context, key, set) && !isReplaced(context, kind, keyOf(set)))
      .toSorted((one, other) => byAge(one.set, other.set))
      .map(({ kind, set }) => ({ kind, key: keyOf(set) }))
  },
}

/** Whether a ListenerSet of the same name takes the place of an XListenerSet, as in a migration. */
export function isReplaced(context: Context, kind: ListenerSetKind, key: string): boolean {
  return kind === 'XListenerSet' && context.get('ListenerSet', key) !== undefined
}

export function isAllowed(context: Context, gateway: string, set: Resource): boolean {
  const resource = context.get('Gateway', gateway)
  if (resource === undefined) return false
  const { allowedListeners } = readGateway(resource)
  return isFrom(context, allowedListeners, {
    own: resource.metadata.namespace ?? '',
    other: set.metadata.namespace ?? '',
  })
}

/** Whether objects of another namespace may attach. */
export function isFrom(
  context: Context,
  from: ListenerSpec['from'],
  { own, other }: { own: string; other: string },
): boolean {
  if (from === 'All') return true
  if (from === 'Same') return own === other
  if (from === 'None') return false
  const labels = context.get('Namespace', other)?.metadata.labels ?? {}
  return isSelected({ 'kubernetes.io/metadata.name': other, ...labels }, from)
}
