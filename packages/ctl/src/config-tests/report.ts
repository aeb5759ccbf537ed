import type { RunResult } from '@portico/gateway/config-tests'

/** The run of one file of tests. */
export interface FileRun {
  readonly file: string
  /** The problems of a file or a config that cannot be read are in `problems`. */
  readonly result: RunResult
}

interface ReportOptions {
  /** Whether to list what no test reached. */
  readonly hasCoverage: boolean
}

/** Prints the runs of all files in one form. */
export type Report = (runs: readonly FileRun[], options: ReportOptions) => string

/** The number of tests that passed and failed; a file that cannot run counts as one failure. */
export function countTests(runs: readonly FileRun[]): { passed: number; failed: number } {
  let [passed, failed] = [0, 0]
  for (const { result } of runs) {
    if (!result.ok) failed++
    else
      for (const { failures } of result.results) {
        if (failures.length === 0) passed++
        else failed++
      }
  }
  return { passed, failed }
}

/** The percentage of all parts of all configs that tests reached. */
export function coveredPercent(runs: readonly FileRun[]): number {
  let [reached, total] = [0, 0]
  for (const { result } of runs) {
    if (!result.ok) continue
    reached += result.coverage.reached
    total += result.coverage.parts.length
  }
  return total === 0 ? 100 : Math.floor((100 * reached) / total)
}
