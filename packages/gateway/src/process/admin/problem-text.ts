import type { check } from '@portico/cel/check'

type ExpressionProblem = ReturnType<typeof check>['problems'][number]

/** What is wrong with an expression that somebody typed: there is no file to point to. */
export function problemText(problem: ExpressionProblem): string {
  const { line, column } = problem.position
  const place = line === 1 ? `column ${column}` : `line ${line}, column ${column}`
  const hint = problem.suggestion === undefined ? '' : `, did you mean \`${problem.suggestion}\`?`
  return `${place}: ${problem.message}${hint}`
}
