import { loadConfig, printProblem } from '@portico/gateway/config-file'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  entryLine,
  IMPORT_FILES,
  type ImportedConfig,
  importers,
  type ImportResult,
  type ImportTexts,
  positionText,
  printImport,
  type SourceKind,
  type SourceText,
  summaryLine,
} from '../../../import/src/index.ts'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printableBlock } from '../printable.ts'
import { gatewayChecks } from './gateway-checks.ts'
import { includedFiles } from './included-files.ts'
import { checkTests, type TestOutcome } from './check-tests.ts'

export interface ImportRequest {
  readonly from: string
  readonly files: readonly string[]
  /** The folder for the results. */
  readonly out: string
  /** The folder of included files; null for that of the first file. */
  readonly root: string | null
  /** Whether existing files are replaced. */
  readonly replaces: boolean
  readonly isStrict: boolean
  readonly isJson: boolean
}

/** Imports files, writes the results, checks them, and prints what changed; returns the exit code. */
export async function importFiles(request: ImportRequest, io: Io): Promise<number> {
  const sources = readSources(request.files)
  if (typeof sources === 'string') return failWith(sources, io)
  const result: ImportResult = importers[request.from as SourceKind](sources, includedFiles(request), gatewayChecks)
  if (!result.ok) return failWith(`${positionText(result.problem.at)}: ${result.problem.message}`, io)
  const { report } = result.value
  const texts = printImport(result.value, request.files, request.from)
  const written = writeAll(texts, request)
  if (written !== null) return failWith(written, io)
  const { env } = result.value.behavior
  const loaded = loadConfig(texts.config, { file: join(request.out, IMPORT_FILES.config), dir: request.out, env })
  const problems = loaded.ok ? [] : loaded.problems.map(printProblem)
  const tests = texts.tests === null || !loaded.ok ? null : await checkTests(join(request.out, IMPORT_FILES.tests))
  const outcome = {
    problems,
    tests: tests ?? { passed: 0, failed: 0, failures: [] },
    whyUntested: loaded.ok ? (texts.tests === null ? NO_TESTS : null) : 'the config has problems',
  }
  io.stdout.write(
    request.isJson ? jsonText(result.value, outcome) : printableBlock(plainText(result.value, outcome, request)),
  )
  const isLost = request.isStrict && report.some(({ verdict }) => verdict === 'not carried')
  return problems.length > 0 || outcome.tests.failed > 0 || isLost ? exitCode.failed : exitCode.fine
}

function readSources(files: readonly string[]): SourceText[] | string {
  const sources: SourceText[] = []
  for (const name of files) {
    try {
      sources.push({ name, text: readFileSync(name, 'utf8') })
    } catch (error) {
      return `${name} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`
    }
  }
  return sources
}

/** Writes the files; returns a problem, or null. The config may contain secrets, so only its owner may read it. */
function writeAll(texts: ImportTexts, { out, replaces }: ImportRequest): string | null {
  try {
    mkdirSync(out, { recursive: true })
    for (const [kind, name] of Object.entries(IMPORT_FILES)) {
      const text = texts[kind as keyof ImportTexts]
      if (text !== null) writeFileSync(join(out, name), text, { flag: replaces ? 'w' : 'wx', mode: 0o600 })
    }
    return null
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return `${path ?? out} exists: choose another folder with --out, or replace it with --force`
    return `${path ?? out} cannot be written: ${code ?? String(error)}`
  }
}

interface Outcome {
  readonly problems: readonly string[]
  readonly tests: TestOutcome
  /** The reason why no test ran; null when tests ran. */
  readonly whyUntested: string | null
}

const NO_TESTS =
  'no behavior can be stated without TLS, credentials or other services; write tests: docs/testing-configs.md'

function plainText(
  { report, behavior }: ImportedConfig,
  { problems, tests, whyUntested }: Outcome,
  { out }: ImportRequest,
): string {
  const written = Object.entries(IMPORT_FILES).filter(([kind]) => kind !== 'tests' || behavior.tests.length > 0)
  const lines = [
    ...report.filter(({ verdict }) => verdict !== 'carried').map(entryLine),
    ...problems.map((problem) => `the imported config has a problem: ${problem}`),
    ...tests.failures,
    ...(whyUntested === null ? [] : [`no test ran: ${whyUntested}`]),
    `${summaryLine(report)}; ${tests.passed} tests passed, ${tests.failed} failed`,
    `written to ${out}: ${written.map(([, name]) => name).join(', ')}`,
  ]
  return `${lines.join('\n')}\n`
}

function jsonText({ report }: ImportedConfig, outcome: Outcome): string {
  return `${JSON.stringify({ report, ...outcome }, null, 2)}\n`
}
