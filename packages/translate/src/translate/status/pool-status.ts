import { printFieldProblem } from '../../resources/fields.ts'
import { type InferencePoolSpec, readInferencePool } from '../../resources/inference-pool.ts'
import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import { type Condition, condition, type RouteStatus } from '../../resources/status.ts'
import { pickerProblem } from '../backends/inference-pool.ts'
import type { Context, Query } from '../context.ts'
import { isGranted } from '../grants.ts'
import { attachmentsOf } from '../routes/attachment.ts'
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
  for (const id of routesTo(context, place)) {
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

/** Returns the routes to a pool, or to a GwBackend with a provider that the pool serves, as `Kind/namespace/name`. */
function routesTo(context: Context, place: string): string[] {
  const backends = context.keys('GwBackend', { by: 'pool', value: place })
  const routes = [
    ...routesToObject(context, 'InferencePool', place),
    ...backends.flatMap((backend) => routesToObject(context, 'GwBackend', backend)),
  ]
  return [...new Set(routes)]
}

/** Returns the routes to an object. A route that may not use the object has no effect on the status of the pool. */
function routesToObject(context: Context, target: 'InferencePool' | 'GwBackend', place: string): string[] {
  const [namespace = '', name = ''] = place.split('/')
  const to = { group: groupByKind[target], kind: target, namespace, name }
  return (['HTTPRoute', 'GRPCRoute'] as const).flatMap((kind) =>
    context
      .keys(kind, { by: 'backend', value: `${target}/${place}` })
      .filter((key) => isGranted(context, { group: GATEWAY_GROUP, kind, namespace: key.split('/')[0] ?? '' }, to))
      .map((key) => `${kind}/${key}`),
  )
}
