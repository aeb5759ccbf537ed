import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const interpreter = process.env['E2E_PYTHON'] ?? fileURLToPath(new URL('.venv/bin/python', import.meta.url))

const ENVIRONMENT = { PATH: process.env['PATH'], HOME: process.env['HOME'], PYTHONDONTWRITEBYTECODE: '1' }

/** Why tests with Python clients are skipped, or false where they can run. */
export const withoutPython: string | false = existsSync(interpreter)
  ? false
  : 'no Python client libraries here; e2e/foreign/install.sh installs them'

/** Starts a script of this folder, which ends with the test. */
export function startPython(t: TestContext, script: string, ...args: string[]): void {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(interpreter, [file, ...args], { stdio: ['ignore', 'ignore', 'inherit'], env: ENVIRONMENT })
  t.after(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await ended
  })
}

/** Runs a script of this folder with its arguments as JSON; what it prints as its last line is its result. */
export async function runPython<Result>(script: string, input: object): Promise<Result> {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const { stdout } = await run(interpreter, [file, JSON.stringify(input)], {
    timeout: 240_000,
    maxBuffer: 64 << 20,
    env: ENVIRONMENT,
  })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Result
}
