import { readCapsule, runCapsule } from '@portico/gateway/capsules'
import { loadTests, runTests } from '@portico/gateway/config-tests'
import { printProblem } from '@portico/gateway/config-file'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { findTestFiles } from './find-test-files.ts'
import { jsonReport } from './json-report.ts'
import { junitReport } from './junit-report.ts'
import { countTests, coveredPercent, type FileRun, type Report } from './report.ts'
import { tapReport } from './tap-report.ts'
import { textReport } from './text-report.ts'
import { whenChanged } from './when-changed.ts'

export type ReportForm = 'text' | 'tap' | 'junit' | 'json'

export interface TestRequest {
  /** Files and folders. */
  readonly operands: readonly string[]
  readonly filter: string | null
  readonly form: ReportForm
  readonly hasCoverage: boolean
  /** The least coverage in percent; null accepts any. */
  readonly min: number | null
  readonly isWatched: boolean
}

const REPORTS: Readonly<Record<ReportForm, Report>> = {
  text: textReport,
  tap: tapReport,
  junit: junitReport,
  json: jsonReport,
}

/** Runs the tests of all files and prints the report; with `--watch`, again after each change, until a signal. */
export async function runFiles(request: TestRequest, io: Io): Promise<number> {
  let code = await runOnce(request, io)
  if (!request.isWatched) return code
  for await (const _change of whenChanged(request.operands)) {
    io.stdout.write('\n')
    code = await runOnce(request, io)
  }
  return code
}

async function runOnce(request: TestRequest, io: Io): Promise<number> {
  const { operands, filter, form, min } = request
  const found = findTestFiles(operands)
  if ('problem' in found) return failWith(found.problem, io)
  const runs: FileRun[] = []
  for (const file of found.files) runs.push({ file, result: await runFile(file, filter) })
  const hasCoverage = request.hasCoverage || min !== null
  io.stdout.write(REPORTS[form](runs, { hasCoverage }))
  const { passed, failed } = countTests(runs)
  if (failed > 0) return exitCode.failed
  if (passed === 0) return failWith(`no test has ${JSON.stringify(filter)} in its name`, io)
  if (min === null || coveredPercent(runs) >= min) return exitCode.fine
  return failWith(`the tests reach ${coveredPercent(runs)} % of the config, and --min expects ${min} %`, io)
}

async function runFile(file: string, filter: string | null): Promise<FileRun['result']> {
  const capsule = file.endsWith('.json') ? readCapsule(file) : null
  if (typeof capsule === 'string')
    return { ok: false, problems: [`${file}: the capsule cannot be replayed: ${capsule}`] }
  if (capsule !== null) return runCapsule(capsule, file, { filter })
  const loaded = loadTests(file)
  return loaded.ok ? runTests(loaded.value, { filter }) : { ok: false, problems: loaded.problems.map(printProblem) }
}
