import { type LintFinding, lintPath, printFinding } from '@portico/gateway/lint'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import { sarifReport } from './sarif.ts'

export type LintForm = 'text' | 'json' | 'sarif'

interface LintRequest {
  /** Config files, and files or folders of manifests. */
  readonly paths: readonly string[]
  readonly gateway: string | null
  readonly form: LintForm
  readonly failsOnWarning: boolean
}

/** All findings of a run, with the number of findings that comments ignore. */
interface LintRun {
  readonly findings: readonly LintFinding[]
  readonly ignored: number
}

/** Lints the files and prints a report; resolves to the exit code. */
export async function lintFiles({ paths, gateway, form, failsOnWarning }: LintRequest, io: Io): Promise<number> {
  const findings: LintFinding[] = []
  let ignored = 0
  for (const path of paths) {
    try {
      const report = await lintPath(path, { gateway, env: io.env, now: Date.now() })
      findings.push(...report.findings)
      ignored += report.ignored
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined) throw error
      return failWith(`${path} cannot be read: ${code}`, io)
    }
  }
  io.stdout.write(REPORTS[form]({ findings, ignored }))
  const isBad = findings.some(({ severity }) => failsOnWarning || severity === 'error')
  return isBad ? exitCode.failed : exitCode.fine
}

const REPORTS: Readonly<Record<LintForm, (run: LintRun) => string>> = { text, json, sarif: sarifReport }

function text({ findings, ignored }: LintRun): string {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const summary = `${errors} errors, ${findings.length - errors} warnings${ignored === 0 ? '' : `, ${ignored} ignored`}`
  const lines = findings.flatMap((finding) => `${finding.severity}: ${printFinding(finding)}`.split('\n'))
  return `${[...lines, summary].map(printable).join('\n')}\n`
}

function json({ findings, ignored }: LintRun): string {
  const listed = findings.map(({ code, severity, location, message, fix, hasPage }) => ({
    ...{ code, severity, ...location, message, fix },
    page: hasPage ? `docs/lint/${code}.md` : null,
  }))
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return `${JSON.stringify({ errors, warnings: findings.length - errors, ignored, findings: listed }, null, 2)}\n`
}
