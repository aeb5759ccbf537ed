import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { closedPort } from '../../packages/gateway/src/testing/scene.ts'

const run = promisify(execFile)
const interpreter = process.env['E2E_PYTHON'] ?? fileURLToPath(new URL('.venv/bin/python', import.meta.url))

const ENVIRONMENT = { PATH: process.env['PATH'], HOME: process.env['HOME'], PYTHONDONTWRITEBYTECODE: '1' }

/** Why tests with Python clients are skipped, or false where they can run. */
export const withoutPython: string | false = existsSync(interpreter)
  ? false
  : 'no Python client libraries here; e2e/foreign/install.sh installs them'

/** The environment with the newer one of two major lines. */
const nextInterpreter =
  process.env['E2E_NEXT_PYTHON'] ?? fileURLToPath(new URL('.venv/next/bin/python', import.meta.url))

export const withoutNextPython: string | false = existsSync(nextInterpreter)
  ? false
  : 'no newer Python client libraries here; e2e/foreign/install.sh installs them'

/** Starts a server script of this folder, which ends with the test; returns its port. */
export async function usePythonServer(t: TestContext, script: string, ...args: string[]): Promise<number> {
  const port = await closedPort()
  const file = fileURLToPath(new URL(script, import.meta.url))
  const child = spawn(interpreter, [file, String(port), ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: ENVIRONMENT,
  })
  t.after(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await ended
  })
  await eventually(`${script} is there`, () => {
    assert.equal(child.exitCode, null, `${script} ended before it served`)
    return canConnect(port)
  })
  return port
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(true))
    socket.on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

/** Runs a script of this folder with its arguments as JSON; what it prints as its last line is its result. */
export function runPython<Result>(script: string, input: object): Promise<Result> {
  return runBy(interpreter, script, input)
}

/** The same with the newer libraries. */
export function runNextPython<Result>(script: string, input: object): Promise<Result> {
  return runBy(nextInterpreter, script, input)
}

async function runBy<Result>(python: string, script: string, input: object): Promise<Result> {
  const file = fileURLToPath(new URL(script, import.meta.url))
  const { stdout } = await run(python, [file, JSON.stringify(input)], {
    timeout: 240_000,
    maxBuffer: 64 << 20,
    env: ENVIRONMENT,
  })
  return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Result
}
