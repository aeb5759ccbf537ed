import { type LoadedTests, readTests } from '../config-tests/load-tests.ts'
import { type RunResult, runLoaded } from '../config-tests/run-tests.ts'
import { printProblem } from '../sources/print-problems.ts'
import type { Capsule } from './capsule.ts'
import { capsuleConfig } from './capsule-config.ts'

/** Replays the request of a capsule as a test. */
export async function runCapsule(
  capsule: Capsule,
  file: string,
  options: { readonly filter: string | null },
): Promise<RunResult> {
  const text = JSON.stringify({ config: file, tests: [capsule.test] })
  const read = readTests(text, file)
  if (!read.ok) return { ok: false, problems: read.problems.map(printProblem) }
  const config = await capsuleConfig(capsule)
  return config.ok ? runLoaded(inFile(read.value, file), config, options) : config
}

/** Moves the locations of tests to line 1 of the capsule file, because capsules have no other locations. */
function inFile(tests: LoadedTests, file: string): LoadedTests {
  const location = { file, line: 1, column: 1 }
  return {
    ...tests,
    tests: tests.tests.map((test) => ({
      ...test,
      location,
      steps: test.steps.map((step) => ({
        ...step,
        outcomes: step.outcomes.map((outcome) => ({ ...outcome, locationOf: () => location })),
      })),
    })),
  }
}
