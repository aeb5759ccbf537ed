import { backtest, type BacktestConfig, type BacktestReport, loadTestedConfig } from '@portico/gateway/backtest'
import type { ClusterArguments } from '../cluster/options.ts'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { withAdmins } from '../requests/with-admins.ts'
import type { Source } from '../trace/source.ts'
import { downloadRecords, readRecords, type RecordsResult } from './load-records.ts'
import type { BacktestRun } from './backtest-run.ts'
import { liveConfigFile } from './live-config.ts'
import { sarifReport } from './sarif.ts'
import { textReport } from './text-report.ts'

export type BacktestForm = 'text' | 'json' | 'sarif'

interface BacktestRequest {
  readonly file: string
  readonly before: string | null
  readonly records: string | null
  /** The gateway whose records are decided again; null when the records come from a file. */
  readonly from: Source | null
  readonly cluster: ClusterArguments
  readonly token: string | null
  /** The age of the oldest record to download, such as `1h`. */
  readonly last: string
  readonly limit: number
  readonly gateway: string | null
  readonly failOn: readonly string[]
  readonly form: BacktestForm
}

/** Runs a back-test of a config and prints the report; resolves to the exit code. */
export async function backtestConfig(request: BacktestRequest, io: Io): Promise<number> {
  const { records: path, from, limit } = request
  if (path !== null) return compare(request, await readRecords(path, limit), null, io)
  if (from === null) return failWith('no gateway and no records', io)
  return withAdmins({ ...request.cluster, from }, io, async (admins) => {
    const { token, last } = request
    const loaded = await downloadRecords(admins, { token, last, limit })
    const [admin] = admins
    const live = from.kind === 'local' && admin !== undefined ? await liveConfigFile(admin, token) : null
    return compare(request, loaded, live, io)
  })
}

async function compare(request: BacktestRequest, loaded: RecordsResult, live: string | null, io: Io): Promise<number> {
  const { file, gateway, form, failOn } = request
  if ('problem' in loaded) return failWith(loaded.problem, io)
  const { records } = loaded
  if (records.length === 0) return failWith('no recorded requests: a back-test of nothing proves nothing', io)
  const options = { env: io.env, gateway }
  const after = await loadTestedConfig(file, options)
  if (!after.ok) return failWithProblems('the new config cannot go live', after.problems, io)
  const before = request.before ?? live
  let old: BacktestConfig | null = null
  if (before !== null) {
    const found = await loadTestedConfig(before, options)
    if (found.ok) old = found
    else if (request.before !== null)
      return failWithProblems('the config of the records has problems', found.problems, io)
    else
      io.stderr.write(
        `porticoctl: ${printable(before)} cannot be read here: name the config of the records with --before\n`,
      )
  }
  const report = await backtest({ records, before: old, after })
  io.stdout.write(REPORTS[form]({ report, file, before: old === null ? null : before }))
  return isFailure(report, failOn) ? exitCode.failed : exitCode.fine
}

function failWithProblems(what: string, problems: readonly string[], io: Io): number {
  const code = failWith(`${what}:`, io)
  io.stderr.write(
    problems
      .flatMap((problem) => problem.split('\n'))
      .map((line) => `${printable(line)}\n`)
      .join(''),
  )
  return code
}

function isFailure({ counts, flipped, unknown }: BacktestReport, failOn: readonly string[]): boolean {
  const numbers: Readonly<Record<string, number | undefined>> = { ...counts, any: flipped, unknown }
  return failOn.some((kind) => (numbers[kind] ?? 0) > 0)
}

const REPORTS: Readonly<Record<BacktestForm, (run: BacktestRun) => string>> = {
  text: textReport,
  json: ({ report, before }) => `${JSON.stringify({ before, ...report }, null, 2)}\n`,
  sarif: sarifReport,
}
