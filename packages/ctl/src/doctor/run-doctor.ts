import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { loadConfig, printProblem } from '@portico/gateway/config-file'
import { failWith } from '../fail.ts'
import { exitCode, type Io } from '../io.ts'
import { printable } from '../printable.ts'
import type { DoctorFinding, FindingStatus } from './check.ts'
import { doctorChecks } from './checks.ts'

interface DoctorRun {
  readonly file: string
  /** The names of the checks to run; null runs all checks. */
  readonly only: readonly string[] | null
  readonly timeoutMs: number
  readonly spendsTokens: boolean
  readonly timeFrom: string | null
  readonly isJson: boolean
  /** Whether the report also has the findings without a problem. */
  readonly printsAll: boolean
}

type NamedFinding = DoctorFinding & { readonly check: string }

/** Checks a config, the machine, and the servers that the config names; returns the exit code. */
export async function runDoctor(run: DoctorRun, io: Io): Promise<number> {
  let text: string
  try {
    text = readFileSync(run.file, 'utf8')
  } catch (error) {
    return failWith(`${run.file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? String(error)}`, io)
  }
  const dir = dirname(resolve(run.file))
  const config = loadConfig(text, { file: run.file, dir, env: io.env })
  if (!config.ok) {
    for (const problem of config.problems) io.stderr.write(`${printProblem(problem)}\n`)
    return failWith(`${run.file} is not valid, so nothing else was checked`, io)
  }
  const subject = { ...run, config, dir, now: Date.now }
  const checks = doctorChecks.filter(({ name }) => run.only?.includes(name) ?? true)
  const found = await Promise.all(
    checks.map(async ({ name, run: check }) => (await check(subject)).map((each) => ({ check: name, ...each }))),
  )
  const findings = found.flat()
  io.stdout.write(run.isJson ? jsonText(findings) : plainText(findings, run.printsAll))
  return findings.some(({ status }) => status === 'problem') ? exitCode.failed : exitCode.fine
}

function jsonText(findings: readonly NamedFinding[]): string {
  return `${JSON.stringify({ ...counted(findings), findings }, null, 2)}\n`
}

function plainText(findings: readonly NamedFinding[], printsAll: boolean): string {
  const shown = printsAll ? findings : findings.filter(({ status }) => status !== 'ok')
  const lines = shown.flatMap(({ status, check, about, finding, why, fix }) => [
    `${status}: ${check}: ${about} ${finding}`,
    ...(why === '' ? [] : [`    ${why}`]),
    ...(fix === '' ? [] : [`    ${fix}`]),
  ])
  const { problems, warnings, unchecked, fine } = counted(findings)
  const summary = `${problems} problems, ${warnings} warnings, ${unchecked} not checked, ${fine} fine`
  return `${[...lines, summary].map(printable).join('\n')}\n`
}

function counted(findings: readonly NamedFinding[]) {
  const count = (wanted: FindingStatus): number => findings.filter(({ status }) => status === wanted).length
  return { problems: count('problem'), warnings: count('warning'), unchecked: count('unknown'), fine: count('ok') }
}
