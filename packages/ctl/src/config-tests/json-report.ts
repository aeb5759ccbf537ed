import { countTests, coveredPercent, type Report } from './report.ts'

/** For programs: every test, failure and difference. */
export const jsonReport: Report = (runs, { hasCoverage }) => {
  const files = runs.map(({ file, result }) =>
    result.ok
      ? {
          file,
          problems: [],
          tests: result.results.map(({ name, location, failures }) => ({
            name,
            location,
            passed: failures.length === 0,
            failures,
          })),
          ...(hasCoverage && {
            missed: result.coverage.missed.map(({ kind, name, locate }) => ({ kind, name, location: locate() })),
          }),
        }
      : { file, problems: result.problems, tests: [] },
  )
  const summary = { ...countTests(runs), ...(hasCoverage && { coverage: coveredPercent(runs) }) }
  return `${JSON.stringify({ ...summary, files }, null, 2)}\n`
}
