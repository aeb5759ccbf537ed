import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import type { Reason } from '../../resources/reasons.ts'
import {
  type Condition,
  condition,
  type ParentReference,
  type PolicyAncestorStatus,
  type PolicyStatus,
} from '../../resources/status.ts'
import type { Context, Query } from '../context.ts'
import { gatewayConfig } from '../gateways/gateway.ts'
import { filterPlan } from '../policies/filter-plan.ts'
import { gatewaysServing } from '../routes/delegations.ts'
import { overriddenFields } from './overridden-fields.ts'
import { withinRoom } from './policy-status.ts'

/** The status of a GwFilter, by `namespace/name`: one entry for each Gateway with a rule that refers to it. */
export const filterStatus: Query<PolicyStatus | null> = {
  name: 'filterStatus',
  compute(context, place) {
    const plan = context.read(filterPlan, place)
    const resource = context.get('GwFilter', place)
    if (plan === null || resource === undefined) return null
    const { generation = 0 } = resource.metadata
    const { controllerName } = context.settings
    const say = (type: 'Accepted' | 'Attached', isTrue: boolean, reason: Reason, message: string): Condition =>
      condition(type, isTrue, { reason, message, generation })
    const isUsable = plan.problems.length === 0
    const accepted = isUsable
      ? say('Accepted', true, 'Valid', 'Filter accepted')
      : say('Accepted', false, 'Invalid', plan.problems.join('; '))
    const entry = (ancestorRef: ParentReference, conditions: Condition[]): PolicyAncestorStatus => ({
      ancestorRef,
      controllerName,
      conditions,
    })
    const ancestors = gatewaysOf(context, place).map((gateway) => {
      const [namespace = '', name = ''] = gateway.split('/')
      const overridden = context.read(overriddenFields, gateway)[`GwFilter/${place}`] ?? []
      const isAttached = context.read(attachedFilters, gateway).includes(place)
      return entry({ group: GATEWAY_GROUP, kind: 'Gateway', namespace, name }, [
        isUsable && overridden.length > 0
          ? say('Accepted', true, 'PartiallyValid', ['Filter accepted', ...overridden].join('; '))
          : accepted,
        !isUsable
          ? say('Attached', false, 'Invalid', 'Rules that refer to it answer 500')
          : isAttached
            ? say('Attached', true, 'Attached', 'Attached to rules that refer to it')
            : say('Attached', false, 'Invalid', 'Rules that refer to it cannot be used; their routes say why'),
      ])
    })
    if (ancestors.length > 0) return { ancestors: withinRoom(ancestors, entry, generation) }
    const unused: ParentReference = { group: groupByKind.GwFilter, kind: 'GwFilter', name: 'StatusSummary' }
    const pending = say('Attached', false, 'Pending', 'No rule of a route at a Gateway refers to it')
    return { ancestors: [entry(unused, [accepted, pending])] }
  },
}

/** The GwFilters of a Gateway that hold for a rule, by `namespace/name`. A separate query, because most changes keep them. */
const attachedFilters: Query<string[]> = {
  name: 'attachedFilters',
  compute(context, gateway) {
    const keys = (context.read(gatewayConfig, gateway)?.policies ?? []).map(({ key }) => key)
    const found = keys.flatMap((key) => /^filter\/([^@]*)@/.exec(key)?.[1] ?? [])
    return [...new Set(found)].toSorted()
  },
}

function gatewaysOf(context: Context, place: string): string[] {
  const routes = (['HTTPRoute', 'GRPCRoute'] as const).flatMap((kind) =>
    context.keys(kind, { by: 'filter', value: place }).map((key) => `${kind}/${key}`),
  )
  const serving = routes.flatMap((route) => context.read(gatewaysServing, route))
  return [...new Set(serving)].toSorted()
}
