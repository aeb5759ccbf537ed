import { printFieldProblem } from '../../resources/fields.ts'
import { type InferencePoolSpec, readInferencePool } from '../../resources/inference-pool.ts'
import { GATEWAY_GROUP } from '../../resources/kinds.ts'
import { type Condition, condition, type RouteStatus } from '../../resources/status.ts'
import { pickerProblem } from '../backends/inference-pool.ts'
import { routesToPool } from '../backends/pool-routes.ts'
import type { Context, Query } from '../context.ts'
import { attachmentsOf } from '../attachment/attachment.ts'
import { gatewaysServing } from '../routes/delegations.ts'
import { routeStatus } from './route-status.ts'

/** The status of an InferencePool: one entry for each of our Gateways with a route to it; null when there is none. */
export const poolStatus: Query<RouteStatus | null> = {
  name: 'poolStatus',
  compute(context, place) {
    const resource = context.get('InferencePool', place)
    if (resource === undefined) return null
    const spec = readInferencePool(resource)
    const refusals = refusalByGateway(context, place)
    if (refusals.size === 0) return null
    const { generation = 0 } = resource.metadata
    const { controllerName } = context.settings
    const gateways = [...refusals].toSorted(([one], [other]) => (one < other ? -1 : 1))
    return {
      parents: gateways.map(([gateway, refusal]) => {
        const [namespace = '', name = ''] = gateway.split('/')
        return {
          parentRef: { group: GATEWAY_GROUP, kind: 'Gateway', namespace, name },
          controllerName,
          conditions: [acceptedCondition(spec, refusal, generation), resolvedCondition(context, spec, generation)],
        }
      }),
    }
  },
}

function acceptedCondition(
  { picker, problems }: InferencePoolSpec,
  refusal: string | null,
  generation: number,
): Condition {
  const wrong = problems.find(({ code }) => code === 'wrong')
  if (wrong !== undefined) {
    return condition('Accepted', false, { reason: 'UnsupportedValue', message: printFieldProblem(wrong), generation })
  }
  if (refusal !== null)
    return condition('Accepted', false, { reason: 'HTTPRouteNotAccepted', message: refusal, generation })
  const notices = problems.map(printFieldProblem)
  if (picker === null) notices.push('without endpointPickerRef, the gateway balances the requests itself')
  const message = ['InferencePool accepted', ...notices].join('; ')
  return condition('Accepted', true, { reason: 'Accepted', message, generation })
}

function resolvedCondition(context: Context, { picker }: InferencePoolSpec, generation: number): Condition {
  const problem = picker === null ? null : pickerProblem(context, picker)
  if (picker === null || problem === null) {
    return condition('ResolvedRefs', true, { reason: 'ResolvedRefs', message: 'All references resolved', generation })
  }
  const effect =
    picker.failureMode === 'FailOpen' ? 'the gateway balances the requests itself' : 'requests for the pool get 500'
  const message = `endpointPickerRef: ${problem}; ${effect}`
  return condition('ResolvedRefs', false, { reason: 'InvalidExtensionRef', message, generation })
}

/** Why each Gateway accepts none of the routes to a pool; null for Gateways that accept one. */
function refusalByGateway(context: Context, place: string): Map<string, string | null> {
  const refusals = new Map<string, string | null>()
  for (const id of routesToPool(context, place)) {
    const { parents = [] } = context.read(routeStatus, id) ?? {}
    const attachments = context.read(attachmentsOf, id)
    for (const gateway of context.read(gatewaysServing, id)) {
      if (!attachments.some((each) => each.gateway === gateway)) refusals.set(gateway, null)
    }
    for (const [index, { gateway }] of attachments.entries()) {
      const accepted = parents[index]?.conditions.find(({ type }) => type === 'Accepted')
      if (accepted?.status === 'True') refusals.set(gateway, null)
      else if (!refusals.has(gateway)) refusals.set(gateway, `${id.replace('/', ' ')}: ${accepted?.message ?? ''}`)
    }
  }
  return refusals
}
