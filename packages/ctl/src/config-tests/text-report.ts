import { printable } from '../printable.ts'
import { failureLines, placeText } from './failure-lines.ts'
import { countTests, coveredPercent, type FileRun, type Report } from './report.ts'

/** For people: a line for each test, and everything about failures. */
export const textReport: Report = (runs, { hasCoverage }) => {
  const { passed, failed } = countTests(runs)
  const lines = [
    ...runs.flatMap(fileLines),
    '',
    `${passed} passed, ${failed} failed`,
    ...(hasCoverage ? coverageLines(runs) : []),
  ]
  return `${lines.map(printable).join('\n')}\n`
}

function fileLines({ file, result }: FileRun): string[] {
  if (!result.ok) return [file, ...result.problems.flatMap((problem) => problem.split('\n')).map((line) => `  ${line}`)]
  return [
    file,
    ...result.warnings.flatMap((warning) => warning.split('\n')).map((line) => `  warning: ${line}`),
    ...result.results.flatMap(({ name, failures }) => [
      `  ${failures.length === 0 ? '✓' : '✗'} ${name}`,
      ...failures.flatMap(failureLines).map((line) => `    ${line}`),
    ]),
  ]
}

function coverageLines(runs: readonly FileRun[]): string[] {
  const missed = runs.flatMap(({ result }) => (result.ok ? result.coverage.missed : []))
  return [
    `coverage: ${coveredPercent(runs)} %`,
    ...missed.map(({ kind, name, locate }) => {
      const location = locate()
      return `  not reached: ${kind} ${name}${location === null ? '' : ` (${placeText(location)})`}`
    }),
  ]
}
