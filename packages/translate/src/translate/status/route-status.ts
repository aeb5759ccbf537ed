import { printFieldProblem } from '../../resources/fields.ts'
import type { ConditionType } from '../../resources/reasons.ts'
import { type Condition, condition, type RouteParentStatus, type RouteStatus } from '../../resources/status.ts'
import { attachmentsOf } from '../attachment/attachment.ts'
import { delegationsOf, gatewaysServing, type ParentDelegation, unservedChildren } from '../routes/delegations.ts'
import type { Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { conflictsOf } from '../routes/route-conflicts.ts'
import { overriddenFields } from './overridden-fields.ts'
import { type RoutePlan, routePlan } from '../routes/route-plan.ts'

/** The status of a route, by `Kind/namespace/name`; null when no parent is ours. */
export const routeStatus: Query<RouteStatus | null> = {
  name: 'routeStatus',
  compute(context, id) {
    const attachments = context.read(attachmentsOf, id)
    const delegations = context.read(delegationsOf, id)
    const plan = context.read(routePlan, id)
    if (plan === null || attachments.length + delegations.length === 0) return null
    const { controllerName } = context.settings
    const hasChildren = plan.rules.some(({ children }) => children.length > 0)
    const unserved = hasChildren ? unservedChildren(context, `${plan.namespace}/${plan.name}`) : []
    const attached = attachments.map((attachment): ParentResult => {
      const { refusal, notices } = conflictsOf(context, id, attachment)
      return {
        ref: attachment.ref,
        refusal: attachment.refusal ?? refusal,
        dropped: [],
        notices: [...notices, ...unserved],
      }
    })
    const overridden = new Set(
      (delegations.length === 0 ? [] : context.read(gatewaysServing, id)).flatMap(
        (gateway) => context.read(overriddenFields, gateway)[id] ?? [],
      ),
    )
    const delegated = delegations.map((delegation): ParentResult => ({
      ...delegation,
      notices: [...overridden, ...unserved],
    }))
    // Statuses of InferencePools expect the attachments to come first.
    return { parents: [...attached, ...delegated].map((result) => parentStatus(plan, result, controllerName)) }
  },
}

/** The result of a route at one parent. */
interface ParentResult extends ParentDelegation {
  notices: readonly string[]
}

function parentStatus(plan: RoutePlan, result: ParentResult, controllerName: string): RouteParentStatus {
  const { group, kind, namespace, name, sectionName, port } = result.ref
  return {
    parentRef: {
      group,
      kind,
      namespace,
      name,
      ...(sectionName !== undefined && { sectionName }),
      ...(port !== undefined && { port }),
    },
    controllerName,
    conditions: conditionsOf(plan, result),
  }
}

function conditionsOf(
  { rules, generation, problems }: RoutePlan,
  { refusal, dropped, notices: lost }: ParentResult,
): Condition[] {
  const say = (type: ConditionType, isTrue: boolean, { reason, message }: Unusable): Condition =>
    condition(type, isTrue, { reason, message, generation })
  const bad = rules.flatMap((rule, index) => {
    const problem = rule.refusal ?? dropped.find((each) => each.index === index)?.problem ?? null
    return problem === null ? [] : [{ index, ...problem }]
  })
  const listed = bad.map(({ index, message }) => `rules[${index}]: ${message}`).join('; ')
  const ignored = [...problems, ...rules.flatMap((rule) => rule.problems)].filter(({ code }) => code === 'unknown')
  const notices = new Set([...lost, ...ignored.map(printFieldProblem), ...rules.flatMap((rule) => rule.ignored)])
  const fine: Unusable = { reason: 'Accepted', message: ['Route accepted', ...notices].join('; ') }
  const [first] = bad
  const isWhole = first !== undefined && bad.length === rules.length
  const unresolved = rules.flatMap((rule, index) =>
    rule.unresolved === null ? [] : [{ ...rule.unresolved, message: `rules[${index}]: ${rule.unresolved.message}` }],
  )
  const [firstUnresolved] = unresolved
  return [
    refusal !== null
      ? say('Accepted', false, refusal)
      : isWhole
        ? say('Accepted', false, { reason: first.reason, message: listed })
        : say('Accepted', true, fine),
    firstUnresolved === undefined
      ? say('ResolvedRefs', true, { reason: 'ResolvedRefs', message: 'All references resolved' })
      : say('ResolvedRefs', false, {
          reason: firstUnresolved.reason,
          message: unresolved.map(({ message }) => message).join('; '),
        }),
    ...(first === undefined || isWhole || refusal !== null
      ? []
      : // The Gateway API requires this beginning.
        [say('PartiallyInvalid', true, { reason: first.reason, message: `Dropped Rule: ${listed}` })]),
  ]
}
