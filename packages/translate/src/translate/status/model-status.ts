import { GATEWAY_GROUP, listenerSetKindOf } from '../../resources/kinds.ts'
import { type ParentRef, printReference } from '../../resources/references.ts'
import { type Condition, condition, type RouteParentStatus, type RouteStatus } from '../../resources/status.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { modelPlan, type ModelPlan } from '../models/model-plan.ts'
import { modelTable } from '../models/model-table.ts'
import { linkedModels } from '../models/rule-models.ts'
import { tableOfListener, tableOfRule } from '../models/table-members.ts'
import { attachmentsOf } from '../attachment/attachment.ts'
import { gatewaysServing } from '../routes/delegations.ts'
import { parentRefsOf } from '../attachment/parent-refs.ts'

/** The status of a GwModel, by `namespace/name`: an entry for each parent, also for those that cannot serve it. */
export const modelStatus: Query<RouteStatus | null> = {
  name: 'modelStatus',
  compute(context, place) {
    const plan = context.read(modelPlan, place)
    if (plan === null) return null
    const refs = new Map(context.read(parentRefsOf, `GwModel/${place}`).map((ref) => [JSON.stringify(ref), ref]))
    return { parents: [...refs.values()].map((ref) => parentStatus(context, plan, ref)) }
  },
}

/** The result of a model at one parent. */
interface ParentResult {
  /** Why the parent does not serve the model. */
  refusal: Unusable | null
  /** The keys of the tables with the model. */
  tables: string[]
}

function parentStatus(context: Context, plan: ModelPlan, ref: ParentRef): RouteParentStatus {
  const { group, kind, namespace, name, sectionName, port } = ref
  return {
    parentRef: {
      group,
      kind,
      namespace,
      name,
      ...(sectionName !== undefined && { sectionName }),
      ...(port !== undefined && { port }),
    },
    controllerName: context.settings.controllerName,
    conditions: conditionsOf(context, plan, resultAt(context, plan.place, ref)),
  }
}

function conditionsOf(context: Context, plan: ModelPlan, { refusal, tables }: ParentResult): Condition[] {
  const { generation, place } = plan
  const found = tables.map((key) => context.read(modelTable, key))
  const [problem = null] = found.flatMap(({ problems }) => problems[place] ?? [])
  const refused = plan.problem ?? refusal ?? problem
  const missing = [...new Set(found.flatMap(({ unresolved }) => unresolved[place] ?? []))]
  const unresolved =
    plan.isUnresolved && plan.problem !== null ? plan.problem.message : missing.length === 0 ? null : missing.join('; ')
  return [
    refused === null
      ? condition('Accepted', true, { reason: 'Accepted', message: 'GwModel accepted', generation })
      : condition('Accepted', false, { ...refused, generation }),
    unresolved === null
      ? condition('ResolvedRefs', true, { reason: 'ResolvedRefs', message: 'All references resolved', generation })
      : condition('ResolvedRefs', false, { reason: 'BackendNotFound', message: unresolved, generation }),
  ]
}

function resultAt(context: Context, place: string, ref: ParentRef): ParentResult {
  const { group, kind } = ref
  if (group === GATEWAY_GROUP && kind === 'HTTPRoute') return resultAtRoute(context, place, ref)
  if (!(group === GATEWAY_GROUP && kind === 'Gateway') && listenerSetKindOf(ref) === null) {
    const what = group === '' ? kind : `${kind}.${group}`
    return refuse('InvalidKind', `${what} cannot be a parent: use Gateway, ListenerSet or HTTPRoute`)
  }
  const own = context
    .read(attachmentsOf, `GwModel/${place}`)
    .find((each) => JSON.stringify(each.ref) === JSON.stringify(ref))
  if (own === undefined) return refuse('NoMatchingParent', `${printReference(ref)} is no Gateway of this controller`)
  return { refusal: own.refusal, tables: own.listeners.map(({ key }) => tableOfListener(own.gateway, key)) }
}

function resultAtRoute(context: Context, place: string, ref: ParentRef): ParentResult {
  const route = `${ref.namespace}/${ref.name}`
  const rules = context
    .read(linkedModels, route)
    .filter(({ rule }) => ref.sectionName === undefined || ref.sectionName === rule)
  const linked = ref.port === undefined ? rules.filter(({ members }) => members.includes(place)) : []
  if (linked.length === 0) {
    const [problem] = rules.flatMap(({ refused }) => refused.filter((each) => each.place === place))
    if (problem !== undefined) return { refusal: problem.problem, tables: [] }
    return refuse('NoMatchingParent', `HTTPRoute ${route} does not refer to this GwModel`)
  }
  if (context.read(gatewaysServing, `HTTPRoute/${route}`).length === 0) {
    return refuse('NoMatchingParent', `HTTPRoute ${route} is not served by a Gateway of this controller`)
  }
  return { refusal: null, tables: linked.map(({ index }) => tableOfRule(route, index)) }
}

function refuse(reason: Unusable['reason'], message: string): ParentResult {
  return { refusal: { reason, message }, tables: [] }
}
