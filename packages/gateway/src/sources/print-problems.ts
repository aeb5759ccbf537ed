import { printPath } from '../schema/problem.ts'
import type { ConfigLocation, LocatedProblem } from './located-problem.ts'

/** One block for each problem: `file:line:column: path: what was found, what was expected`, and a hint below. */
export function printProblems(problems: readonly LocatedProblem[]): string {
  return problems.map(printProblem).join('\n')
}

/** Prints the first problems, and the total number. */
export function firstProblems(problems: readonly string[]): string[] {
  if (problems.length <= MOST) return [...problems]
  return [...problems.slice(0, MOST), `${problems.length} problems in all; the first ${MOST} are shown`]
}

const MOST = 100

export function printProblem(problem: LocatedProblem): string {
  const path = printPath(problem.path)
  const where = path === '' ? printLocation(problem.location) : `${printLocation(problem.location)}: ${path}`
  // A rule between keys is printed as one sentence.
  const line = `${where}: ${problem.found}${problem.expected === '' ? '' : `, expected ${problem.expected}`}`
  return problem.suggestion === null ? line : `${line}\n    ${problem.suggestion}`
}

function printLocation(location: ConfigLocation): string {
  return 'variable' in location
    ? `environment variable ${location.variable}`
    : `${location.file}:${location.line}:${location.column}`
}
