import {
  bool,
  check,
  createEnvironment,
  type Environment,
  type Position,
  type Problem,
  type Type,
} from '@portico/cel/check'
import { gatewayFunctions } from '../../expressions/functions.ts'
import { type ExpressionPhase, variablesByPhase } from '../../expressions/variables.ts'
import { type ExpressionReference, Refusal, scalar, type Schema } from '../kit.ts'
import { quoteHint } from './values.ts'

/** Longest text of an expression. */
export const longestExpression = 16_384

/**
 * A CEL expression, checked with the variables and functions of its phase. An expression that can never have the wanted
 * type is rejected.
 */
export function expression(
  phase: ExpressionPhase,
  wants: Type = 'dyn',
  refers: ExpressionReference | null = null,
): Schema<string> {
  return scalar((input) => readExpression(input, phase, wants), {
    type: 'expression',
    expected: 'a CEL expression',
    json: { type: 'string', minLength: 1, maxLength: longestExpression },
    refers,
  })
}

/** An expression that is true or false. */
export function condition(phase: ExpressionPhase, refers: ExpressionReference | null = null): Schema<string> {
  return expression(phase, bool, refers)
}

export function readCondition(input: unknown, phase: ExpressionPhase): string | Refusal {
  return readExpression(input, phase, bool)
}

export function readExpression(input: unknown, phase: ExpressionPhase, wants: Type = 'dyn'): string | Refusal {
  if (typeof input !== 'string') return new Refusal('wrong_type', { suggestion: quoteHint(input) })
  if (input.length < 1 || input.length > longestExpression) return new Refusal('out_of_range')
  const [problem] = check(input, environmentFor(phase), { wants }).problems
  if (problem === undefined) return input
  const suggestion = problem.suggestion === undefined ? null : `did you mean \`${problem.suggestion}\`?`
  return new Refusal('bad_expression', { detail: printProblem(problem), suggestion })
}

/** Reads of values that may be absent, which make the expression fail. */
export function unguardedReads(source: string, phase: ExpressionPhase): string[] {
  return check(source, environmentFor(phase)).warnings.map(printProblem)
}

/** Comparisons that a header with several lines evades when the expression should be `wanted`. */
export function oneLineComparisons(source: string, phase: ExpressionPhase, wanted: boolean): OneLineComparison[] {
  return check(source, environmentFor(phase))
    .headerComparisons.filter(({ leans }) => leans !== wanted)
    .map(({ header, position }) => ({ header, place: printPlace(position) }))
}

interface OneLineComparison {
  header: string
  place: string
}

function printProblem({ message, position }: Problem): string {
  return `${message} at ${printPlace(position)}`
}

function printPlace({ line, column }: Position): string {
  return line === 1 ? `column ${column}` : `line ${line}, column ${column}`
}

const environments = new Map<ExpressionPhase, Environment>()

function environmentFor(phase: ExpressionPhase): Environment {
  let environment = environments.get(phase)
  if (environment === undefined) {
    environment = createEnvironment({ variables: variablesByPhase[phase], functions: gatewayFunctions })
    environments.set(phase, environment)
  }
  return environment
}
