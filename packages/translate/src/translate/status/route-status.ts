import { printFieldProblem } from '../../resources/fields.ts'
import type { ConditionType } from '../../resources/reasons.ts'
import { type Condition, condition, type RouteParentStatus, type RouteStatus } from '../../resources/status.ts'
import { attachmentsOf, type ParentAttachment } from '../routes/attachment.ts'
import type { Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { conflictsOf } from '../routes/route-conflicts.ts'
import { type RoutePlan, routePlan } from '../routes/route-plan.ts'

/** The status of a route, by `Kind/namespace/name`; null when no parent is ours. */
export const routeStatus: Query<RouteStatus | null> = {
  name: 'routeStatus',
  compute(context, id) {
    const attachments = context.read(attachmentsOf, id)
    const plan = context.read(routePlan, id)
    if (plan === null || attachments.length === 0) return null
    const { controllerName } = context.settings
    return {
      parents: attachments.map((attachment) => {
        const { refusal, notices } = conflictsOf(context, id, attachment)
        return parentStatus(plan, { ...attachment, refusal: attachment.refusal ?? refusal }, notices, controllerName)
      }),
    }
  },
}

function parentStatus(
  plan: RoutePlan,
  { ref, refusal }: ParentAttachment,
  notices: readonly string[],
  controllerName: string,
): RouteParentStatus {
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
    controllerName,
    conditions: conditionsOf(plan, refusal, notices),
  }
}

function conditionsOf(
  { rules, generation, problems }: RoutePlan,
  refusal: Unusable | null,
  lost: readonly string[],
): Condition[] {
  const say = (type: ConditionType, isTrue: boolean, { reason, message }: Unusable): Condition =>
    condition(type, isTrue, { reason, message, generation })
  const bad = rules.flatMap((rule, index) => (rule.refusal === null ? [] : [{ index, ...rule.refusal }]))
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
