import { printPath } from '../schema/problem.ts'
import type { Place, PlacedProblem } from './located-problem.ts'

/** One block for each problem: `file:line:column: path: what was found, what was expected`, and a hint below. */
export function printProblems(problems: readonly PlacedProblem[]): string {
  return problems.map(printProblem).join('\n')
}

/** As many as a person may want to read, and how many there are. */
export function firstProblems(problems: readonly string[]): string[] {
  if (problems.length <= MOST) return [...problems]
  return [...problems.slice(0, MOST), `${problems.length} problems in all; the first ${MOST} are shown`]
}

const MOST = 100

export function printProblem(problem: PlacedProblem): string {
  const path = printPath(problem.path)
  const where = path === '' ? printPlace(problem.place) : `${printPlace(problem.place)}: ${path}`
  // A rule between keys says in one sentence what it asks for.
  const line = `${where}: ${problem.found}${problem.expected === '' ? '' : `, expected ${problem.expected}`}`
  return problem.suggestion === null ? line : `${line}\n    ${problem.suggestion}`
}

function printPlace(place: Place): string {
  return 'variable' in place ? `environment variable ${place.variable}` : `${place.file}:${place.line}:${place.column}`
}
