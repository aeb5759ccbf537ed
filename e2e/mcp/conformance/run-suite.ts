import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Suite } from './suites.ts'

export interface Check {
  id: string
  name: string
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  errorMessage?: string
}

/** The checks of a suite, by scenario, in running order. */
export type Findings = Map<string, Check[]>

/** Runs a suite, or one scenario of it, against a server. */
export async function runSuite(suite: Suite, url: string, scenario?: string): Promise<Findings> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const args = scenario === undefined ? suite.args : only(suite.args, scenario)
    const said = await run([suite.program, 'server', '--url', url, ...args, '-o', folder])
    return readFindings(folder, said)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same revision, but a single scenario: a set of requirements becomes the revision it stands for. */
function only(args: string[], scenario: string): string[] {
  const revision = args.at(-1) ?? ''
  // Scenarios of extensions run at the revision that has them, and are skipped when one is named.
  if (args[0] === '--scenario' || scenario.startsWith('tasks-')) return ['--scenario', scenario]
  return ['--scenario', scenario, '--spec-version', revision]
}

/** Its exit code tells of failures, which are in the files it wrote. Gives what it says about its own. */
function run(args: string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-4_096)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (signal === null && (code === 0 || code === 1)) resolve(said)
      else reject(new Error(`the suite ended with ${signal ?? code}: ${said}`))
    })
  })
}

/** One folder for each scenario: `server-<scenario>-<when>`. */
function readFindings(folder: string, said: string): Findings {
  const found = readdirSync(folder).flatMap((name) => {
    const parts = /^server-(?<scenario>.+)-(?<when>\d{4}-\d\d-\d\dT.*)$/.exec(name)?.groups
    if (parts === undefined) return []
    const file = join(folder, name, 'checks.json')
    const checks = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Check[]) : [brokenOff(said)]
    return [{ scenario: parts['scenario'] ?? '', when: parts['when'] ?? '', checks }]
  })
  const inOrder = found.toSorted((a, b) => (a.when < b.when ? -1 : 1))
  return new Map(inOrder.map(({ scenario, checks }) => [scenario, checks]))
}

/** A scenario that ended before it had found anything out. */
function brokenOff(said: string): Check {
  return { id: 'broken-off', name: 'BrokenOff', status: 'FAILURE', errorMessage: said }
}
