import type { Environment } from '../declarations.ts'
import { toClosure } from '../emit/closures/to-closure.ts'
import { CelError } from '../error.ts'
import { childrenOf, mapChildren } from '../plan-children.ts'
import type { CallNode, Plan } from '../plan.ts'
import { meter } from '../run/meter.ts'
import type { Result } from '../value.ts'

type Refuse = (message: string, offset: number) => void

/** `fold` computes constant parts once, at load, and rejects literals that can never work. */
export function fold(plan: Plan, environment: Environment, refuse: Refuse): Plan {
  const before = meter.left
  meter.left = environment.budget
  const folded = foldPlan(plan, environment.lenient ? () => {} : refuse)
  meter.left = before
  return exemptOnce(folded)
}

/**
 * Calls outside loops run once, so `onceCall` replaces `call`: one pass over a body, however long, must not exhaust the
 * budget.
 */
function exemptOnce(original: Plan): Plan {
  // The range of a loop is computed once; its condition and body are not.
  if (original.kind === 'loop') return { ...original, range: exemptOnce(original.range) }
  const plan = mapChildren(original, exemptOnce)
  if (plan.kind !== 'call' || plan.fallback?.onceCall === undefined) return plan
  return { ...plan, fallback: { ...plan.fallback, call: plan.fallback.onceCall } }
}

function foldPlan(original: Plan, refuse: Refuse): Plan {
  const plan = mapChildren(original, (child) => foldPlan(child, refuse))
  if (!isFoldable(plan)) return plan.kind === 'call' ? prepare(plan, refuse) : plan
  const result = evaluate(plan)
  if (!(result instanceof CelError)) return { kind: 'constant', offset: plan.offset, value: result }
  // A failing constant is left to the evaluation, where `||` may absorb the error, unless the literal itself is invalid.
  // Wrong types are reported by the type checker.
  const isBadValue = result.kind !== 'no_such_overload'
  if (isBadValue && plan.kind === 'call' && plan.fallback?.refusesAtLoad) refuse(result.message, placeOf(plan))
  return plan.kind === 'call' ? prepare(plan, refuse) : plan
}

function evaluate(plan: Plan): Result {
  try {
    return toClosure(plan)({}, [])
  } catch {
    return new CelError('internal', 'cannot be computed at load')
  }
}

const FOLDABLE = new Set<Plan['kind']>(['binary', 'not', 'negate', 'list', 'map', 'select', 'index'])

function isFoldable(plan: Plan): boolean {
  const isPure = plan.kind === 'call' ? plan.fallback?.pure && plan.methods.length === 0 : FOLDABLE.has(plan.kind)
  return isPure === true && childrenOf(plan).every((child) => child.kind === 'constant')
}

/** A literal pattern is compiled at load, whatever text it will be matched against. */
function prepare(plan: Plan & CallNode, refuse: Refuse): Plan {
  const { fallback, args } = plan
  const prepared = fallback?.prepare?.(args.map((arg) => (arg.kind === 'constant' ? arg.value : undefined)))
  if (fallback === undefined || prepared === undefined) return plan
  if (prepared instanceof CelError) {
    refuse(prepared.message, placeOf(plan))
    return plan
  }
  return { ...plan, fallback: { ...fallback, ...prepared } }
}

/** The offset of the literal in the source. */
function placeOf(plan: Plan & CallNode): number {
  return plan.args.findLast((arg) => arg.kind === 'constant')?.offset ?? plan.offset
}
