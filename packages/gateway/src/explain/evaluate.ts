import { isCelError } from '@portico/cel'
import { check } from '@portico/cel/check'
import { type Part, partsOf, typeName } from '@portico/cel/explain'
import type { ExpressionPhase } from '../expressions/variables.ts'
import { environmentFor } from '../pipeline/expression/expression.ts'
import { recordScope } from '../pipeline/views/record-scope.ts'
import type { ProxyIdentity } from '../pipeline/context/proxy-identity.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { Evaluation, ExpressionProblem } from '../findings/evaluation.ts'
import { explainPart, leavesOf, type LeafState } from '../findings/expression-values.ts'

/** The input of an evaluation: a recorded request, or variables. */
export type EvaluatedOn =
  | { readonly record: RequestRecord; readonly identity: ProxyIdentity }
  /** Variables that a user wrote. */
  | { readonly scope: object }

/** The value of an expression and of its parts. Each part has a budget of steps, and all parts share a time limit. */
export function evaluate(expression: string, phase: ExpressionPhase, on: EvaluatedOn, now = Date.now): Evaluation {
  // The budget of a config's expressions is for one evaluation; here each part is evaluated by itself.
  const environment = { ...environmentFor(phase), budget: PART_BUDGET }
  const { problems, warnings } = check(expression, environment)
  const told = { phase, problems: problems.map(placed), warnings: warnings.map(placed) }
  const nothing = { ...told, tree: null, type: null, failure: null, isCut: false }
  if (problems.length > 0) return nothing
  const until = now() + MOST_MILLIS
  let isCut = false
  const isEnough = (): boolean => (isCut ||= now() > until)
  const [scope, leaves] =
    'record' in on ? [recordScope(on.record, on.identity), leavesOf(on.record)] : [on.scope, givenLeaves]
  const part = partsOf(expression, environment, scope, isEnough)
  if (part === null) return nothing
  return { ...told, tree: explainPart(part, leaves), ...resultOf(part), isCut }
}

const PART_BUDGET = 100_000
const MOST_MILLIS = 100

function resultOf({ result }: Part): Pick<Evaluation, 'type' | 'failure'> {
  if (isCelError(result)) return { type: null, failure: result.message }
  return { type: typeName(result), failure: null }
}

/** The state of a variable that a user wrote: present or absent. */
const givenLeaves: LeafState = (result) => (isCelError(result) || result === null ? 'absent' : 'found')

function placed({ message, position, suggestion }: ReturnType<typeof check>['problems'][number]): ExpressionProblem {
  return { message, ...position, suggestion: suggestion ?? null }
}
