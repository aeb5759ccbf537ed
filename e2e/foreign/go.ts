import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Why tests with Go clients are skipped, or false where they can run. */
export const withoutGo: string | false =
  spawnSync('go', ['version']).status === 0 ? false : 'no Go here to build the client with'

const run = promisify(execFile)

/** A client of `go/`, built. Modules are those of its `go.sum`, whatever is newest today. */
export function buildGoClient(t: TestContext, name: string): Promise<string> {
  return buildGoProgram(t, name, '.')
}

/** A program of a package that the module of a client has among its own. */
export async function buildGoProgram(t: TestContext, name: string, source: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), `go-${name}-`))
  t.after(() => rmSync(folder, { recursive: true }))
  const program = join(folder, 'program')
  const cwd = fileURLToPath(new URL(`go/${name}`, import.meta.url))
  await run('go', ['build', '-mod=readonly', '-o', program, source], { cwd, timeout: 600_000 })
  return program
}

/** Runs it with its input as JSON; what it prints is its result. */
export async function runGo<Result>(program: string, input: object): Promise<Result> {
  const { stdout } = await run(program, [JSON.stringify(input)], { timeout: 120_000 })
  return JSON.parse(stdout) as Result
}
