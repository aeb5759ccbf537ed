import { dirname, isAbsolute, join, resolve } from 'node:path'
import { backtest } from '../backtest/backtest.ts'
import type { FlipGroup, FlipKind } from '../backtest/report.ts'
import { loadTests } from '../config-tests/load-tests.ts'
import { failureText, locationText } from '../config-tests/failure-text.ts'
import { runTests } from '../config-tests/run-tests.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { loadConfig } from '../sources/file.ts'
import { printProblem } from '../sources/print-problems.ts'
import type { VerifyBacktest, VerifyJob, VerifyResult } from './verify-job.ts'

/** Verifies a config: runs its tests and its back-test. */
export async function verify(job: VerifyJob): Promise<VerifyResult> {
  const tested = job.tests === null ? NO_TESTS : await runFile(job, job.tests)
  const replayed = job.backtest === null ? NO_BACKTEST : await decideAgain(job, job.backtest)
  return { ...tested, ...replayed, problems: [...tested.problems, ...replayed.problems] }
}

type TestedPart = Pick<VerifyResult, 'problems' | 'tests' | 'failed'>
type ReplayedPart = Pick<VerifyResult, 'problems' | 'decided' | 'newlyDenied' | 'unknown'>

async function runFile({ text, path }: VerifyJob, file: string): Promise<TestedPart> {
  const loaded = loadTests(file)
  if (!loaded.ok) return { ...NO_TESTS, problems: loaded.problems.map(printProblem) }
  const { config, configLocation: at } = loaded.value
  const about = isAbsolute(config) ? config : join(dirname(resolve(file)), config)
  if (path !== '' && about !== path) {
    return {
      ...NO_TESTS,
      problems: [`${locationText(at)}: found ${config}, expected the config that names these tests`],
    }
  }
  const run = await runTests(loaded.value, { filter: null, text })
  if (!run.ok) return { ...NO_TESTS, problems: run.problems.map((problem) => `the tests cannot run: ${problem}`) }
  const failing = run.results.filter(({ failures }) => failures.length > 0)
  return {
    problems: failing.map(failureText),
    tests: run.results.length,
    failed: failing.map(({ name, location }) => ({ file, line: 'file' in location ? location.line : 0, name })),
  }
}

async function decideAgain({ text, place }: VerifyJob, job: VerifyBacktest): Promise<ReplayedPart> {
  const loaded = loadConfig(text, { ...place, env: process.env })
  // The main thread has loaded the same config, so loading fails only when a referenced file has changed since.
  if (!loaded.ok) return { ...NO_BACKTEST, problems: ['a file that the config names has changed during the back-test'] }
  const after = { ir: { ...loaded.ir, binds: [...job.binds] }, locate: loaded.locate }
  await loadFeatures(after.ir)
  const { records, before, limitMs } = job
  const report = await backtest({ records, before: { ir: before }, after, limitMs })
  const refused = report.flips.filter(({ kind }) => REFUSED.includes(kind))
  const newlyDenied = refused.reduce((sum, { count }) => sum + count, 0)
  const isRefusal = newlyDenied > job.maxNewlyDenied
  return {
    problems: isRefusal
      ? [backtestText(newlyDenied, report.records, job.maxNewlyDenied), ...refused.map(groupText)]
      : [],
    ...{ decided: report.records, newlyDenied, unknown: report.unknown },
  }
}

function backtestText(newlyDenied: number, records: number, most: number): string {
  return `the back-test failed: ${newlyDenied} of ${records} recorded requests passed and would be refused now, and \`maxNewlyDenied\` is ${most}`
}

function groupText({ kind, cause, count, example, decidedAt }: FlipGroup): string {
  const { id, method, host, path } = example
  const at = decidedAt === null ? '' : `${locationText(decidedAt)}: `
  return `${at}${kind} ${count}: ${cause}, such as ${id}: ${method ?? 'CONNECT'} ${host ?? ''}${path ?? ''}`
}

/** The kinds of flips in which a request that passed would no longer get a response of the backend. */
const REFUSED: readonly FlipKind[] = ['newly-denied', 'newly-limited', 'newly-failed']
const NO_TESTS: TestedPart = { problems: [], tests: 0, failed: [] }
const NO_BACKTEST: ReplayedPart = { problems: [], decided: null, newlyDenied: 0, unknown: 0 }
