import { printable } from '../printable.ts'
import { failureLines } from './failure-lines.ts'
import type { FileRun, Report } from './report.ts'

/** TAP version 14: https://testanything.org/tap-version-14-specification.html */
export const tapReport: Report = (runs) => {
  const points = runs.flatMap(pointsOf)
  const lines = points.flatMap(({ name, problems }, index) => [
    `${problems === null ? 'ok' : 'not ok'} ${index + 1} - ${escaped(name)}`,
    ...(problems === null
      ? []
      : ['  ---', '  message: |', ...problems.map((line) => `    ${printable(line)}`), '  ...']),
  ])
  return ['TAP version 14', `1..${points.length}`, ...lines, ''].join('\n')
}

interface TestPoint {
  readonly name: string
  readonly problems: readonly string[] | null
}

function pointsOf({ file, result }: FileRun): TestPoint[] {
  if (!result.ok) return [{ name: file, problems: result.problems.flatMap((problem) => problem.split('\n')) }]
  return result.results.map(({ name, failures }) => ({
    name: `${file}: ${name}`,
    problems: failures.length === 0 ? null : failures.flatMap(failureLines),
  }))
}

/** A number sign would begin a directive. */
function escaped(name: string): string {
  return printable(name)
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('#', String.raw`\#`)
}
