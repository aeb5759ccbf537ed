import { existsSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { loadTestedConfig, recordTests, type RecordedTests } from '@portico/gateway/recorded-tests'
import type { ClusterArguments } from '../cluster/options.ts'
import { liveConfigFile } from '../backtest/live-config.ts'
import { downloadRecords } from '../backtest/load-records.ts'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable, printableBlock } from '../printable.ts'
import { withAdmins } from '../requests/with-admins.ts'
import type { Source } from '../trace/source.ts'
import { standInVariables } from './stand-in-variables.ts'
import { printRecordedTests } from './recorded-tests-text.ts'

export interface RecordRequest {
  readonly from: Source
  readonly cluster: ClusterArguments
  readonly token: string | null
  /** The largest number of records to read. */
  readonly count: number
  /** The path of the gateway's config; null for the config of a standalone gateway on this machine. */
  readonly config: string | null
  readonly gateway: string | null
  /** The path of the test file to write, or `-` for standard output. */
  readonly to: string
}

/** Writes a test file from the newest records of a gateway; resolves to the exit code. */
export async function writeRecordedTests(request: RecordRequest, io: Io): Promise<number> {
  const { from, to } = request
  if (to !== '-' && existsSync(to)) return failWith(`${to} exists: name another file with --to`, io)
  return withAdmins({ ...request.cluster, from }, io, async (admins) => {
    const { token, count } = request
    const loaded = await downloadRecords(admins, { token, last: null, limit: count })
    if ('problem' in loaded) return failWith(loaded.problem, io)
    if (loaded.records.length === 0) return failWith('the gateway has no records: send requests first', io)
    const [admin] = admins
    const isHere = request.config === null && from.kind === 'local'
    const path = isHere && admin !== undefined ? await liveConfigFile(admin, token) : request.config
    if (path === null) return failWith('name the config of the gateway with --config <path>', io)
    return write(request, { path, records: loaded.records }, io)
  })
}

interface RecordedInput {
  readonly path: string
  readonly records: Parameters<typeof recordTests>[0]
}

async function write({ to, gateway }: RecordRequest, { path, records }: RecordedInput, io: Io): Promise<number> {
  const env = standInVariables(path, io.env)
  const config = await loadTestedConfig(path, { env, gateway })
  if (!config.ok) {
    const code = failWith('the config cannot be tested:', io)
    io.stderr.write(printableBlock(`${config.problems.join('\n')}\n`))
    return code
  }
  const recorded = await recordTests(records, config, { env })
  const { tests } = recorded
  if (tests.length > 0) {
    const folder = to === '-' ? '.' : dirname(to)
    const named = relative(resolve(folder), resolve(path))
    const text = printRecordedTests(recorded, { config: named, gateway, env })
    if (to === '-') io.stdout.write(text)
    else writeFileSync(to, text, { flag: 'wx' })
  }
  const report = to === '-' ? io.stderr : io.stdout
  report.write(printableBlock(summary(recorded, { to, count: records.length })))
  return tests.length > 0 ? exitCode.fine : exitCode.failed
}

function summary({ tests, alike, replaced, impossible }: RecordedTests, { to, count }: { to: string; count: number }) {
  const lines = [
    `${to === '-' ? '' : `${to}: `}${tests.length} tests of ${count} records${alike > 0 ? `, ${alike} alike` : ''}`,
    ...replaced.map(({ what, count: times }) => `  replaced in ${times}: ${what}`),
    ...impossible.map(
      ({ record: { method, path, id }, reason }) =>
        `  no test of ${printable(`${method ?? 'a connection'} ${path ?? ''}`.trim())} (${id}): ${reason}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}
