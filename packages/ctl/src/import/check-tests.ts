import { printProblem } from '@portico/gateway/config-file'
import { loadTests, runTests } from '@portico/gateway/config-tests'
import { failureLines } from '../config-tests/failure-lines.ts'

export interface TestOutcome {
  readonly passed: number
  readonly failed: number
  /** Lines about the failures. */
  readonly failures: readonly string[]
}

/** Runs a test file that was just written. */
export async function checkTests(file: string): Promise<TestOutcome> {
  const loaded = loadTests(file)
  if (!loaded.ok) return { passed: 0, failed: 1, failures: loaded.problems.map(printProblem) }
  const run = await runTests(loaded.value, { filter: null })
  if (!run.ok) return { passed: 0, failed: 1, failures: [...run.problems] }
  const failed = run.results.filter(({ failures }) => failures.length > 0)
  return {
    passed: run.results.length - failed.length,
    failed: failed.length,
    failures: failed.flatMap(({ failures }) => failures.flatMap(failureLines)),
  }
}
