import type { check } from '@portico/cel/check'

type ExpressionProblem = ReturnType<typeof check>['problems'][number]

/** `problemText` prints a problem of an expression from a request, which has no file to point to. */
export function problemText(problem: ExpressionProblem): string {
  const { line, column } = problem.position
  const place = line === 1 ? `column ${column}` : `line ${line}, column ${column}`
  const hint = problem.suggestion === undefined ? '' : `, did you mean \`${problem.suggestion}\`?`
  return `${place}: ${problem.message}${hint}`
}
