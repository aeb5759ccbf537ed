import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { builtProgram, shippedProgram } from './shipped-program.ts'

/** The program as people start it: a process with its own ports. */

/** The script that users run. Tests that are not about the script start the module that it would load. */
export const PROGRAM = shippedProgram('gateway')

interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Output extends Ending {
  stdout: string
  stderr: string
}

export interface Program {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** The real port of a bind, by its position in the config. */
  port(index?: number): number
  /** URLs without the path. */
  admin: string
  stats: string
  readiness: string
  /** Waits for text on standard output, where the log goes. */
  logged(pattern: RegExp): Promise<void>
  ended: Promise<Ending>
}

export interface RunOptions {
  args?: readonly string[]
  env?: Readonly<Record<string, string>>
  stdin?: string
  /** The path of the Node that runs the gateway; that of the test when left out. */
  node?: string
  /** The command to run instead of the gateway's own script. */
  command?: readonly string[]
  /** Starts a process group, as a terminal does, so that one signal reaches all processes. */
  group?: boolean
  /** Starts the process on a pseudo-terminal, where stdout and stderr are one stream. */
  terminal?: boolean
}

const SCRIPT = '/usr/bin/script'
/** Why a program cannot be run on a terminal; false where it can. */
export const noTerminal = existsSync(SCRIPT) ? false : 'there is no script(1) on this machine'

/** Runs the program to its end. */
export async function runProgram(options: RunOptions): Promise<Output> {
  const started = start(options)
  const ending = await started.ended
  return { ...ending, stdout: started.stdout(), stderr: started.stderr() }
}

/** Starts the program with free ports and waits until it serves; it goes away with the test. */
export async function useProgram(t: TestContext, options: RunOptions): Promise<Program> {
  const started = startWithPorts(options)
  t.after(() => started.stop())
  return served(started)
}

/** Starts the program with free ports and waits until it serves; the caller stops it. */
export async function startProgram(options: RunOptions): Promise<Program & { stop(): Promise<void> }> {
  const started = startWithPorts(options)
  try {
    return { ...(await served(started)), stop: started.stop }
  } catch (error) {
    await started.stop()
    throw error
  }
}

function startWithPorts(options: RunOptions) {
  const env = { ADMIN_ADDR: ANY, STATS_ADDR: ANY, READINESS_ADDR: ANY, ...options.env }
  const started = start({ ...options, env })
  const stop = async (): Promise<void> => {
    started.child.kill('SIGKILL')
    await started.ended
  }
  return { ...started, stop }
}

async function served(started: ReturnType<typeof start>): Promise<Program> {
  await started.printed(/^ {2}readiness .*\n/m, started.stderr)
  const banner = started.stderr()
  const ports = [...banner.matchAll(/^ {2}traffic .*:(\d+) /gm)].map((match) => Number(match[1]))
  const server = (name: string) => new RegExp(`^  ${name} +(http://[^/]+)/`, 'm').exec(banner)?.[1] ?? ''
  return {
    child: started.child,
    stdout: started.stdout,
    stderr: started.stderr,
    port: (index = 0) => ports[index]!,
    admin: server('admin'),
    stats: server('stats'),
    readiness: server('readiness'),
    logged: (pattern) => started.printed(pattern, started.stdout),
    ended: started.ended,
  }
}

/** A folder with a config file, and ways to write it that programs in the field use. */
export function useConfigFile(t: TestContext, config: object | string) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'gateway.yaml')
  const textOf = (value: object | string) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))
  writeFileSync(file, textOf(config))
  return {
    folder,
    file,
    edit: (value: object | string) => writeFileSync(file, textOf(value)),
    replace(value: object | string) {
      writeFileSync(`${file}.new`, textOf(value))
      renameSync(`${file}.new`, file)
    },
  }
}

/** The sum over all series of a metric. */
export async function metric(program: Program, name: string): Promise<number> {
  const text = await (await fetch(`${program.stats}/metrics`)).text()
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].map((match) => Number(match[1]))
  assert.notEqual(values.length, 0, `metric ${name} is missing`)
  return values.reduce((sum, value) => sum + value, 0)
}

/** Waits for something that no event tells of. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>, limitMs = PATIENCE_MS) {
  const limit = performance.now() + limitMs
  while (!(await holds())) {
    if (performance.now() > limit) throw new Error(`never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

const ANY = '127.0.0.1:0'
/** A program of three threads takes its time to start where a dozen others run on two cores. */
const PATIENCE_MS = 45_000

function start({ args = [], env = {}, stdin, node = process.execPath, ...rest }: RunOptions) {
  // Compiled code is kept between starts: tests start the program often.
  const base = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache'),
    // Session keys are stored there, and not in the home folder of the person who runs the tests.
    XDG_STATE_HOME: join(tmpdir(), 'portico-test-state'),
  }
  // Under a Node that is too old, only the script works: it starts a newer Node.
  const script = node === process.execPath ? builtProgram('gateway') : PROGRAM
  const command = [...(rest.command ?? [node, script]), ...args]
  const isTerminal = rest.terminal === true
  const line = command.map((word) => `'${word}'`).join(' ')
  const [program = node, ...words] = isTerminal ? [SCRIPT, '-qefc', `exec ${line}`, '/dev/null'] : command
  const child = spawn(program, words, { env: { ...base, ...env }, detached: rest.group === true })
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  let stdout = ''
  let stderr = ''
  const watchers = new Set<() => void>()
  const notify = () => {
    for (const watcher of watchers) watcher()
  }
  child.stdout.on('data', (chunk: Buffer) => {
    const text = chunk.toString()
    stdout += isTerminal ? text.replaceAll('\r\n', '\n') : text
    if (isTerminal) stderr = stdout
    notify()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
    notify()
  })
  let isOver = false
  const ended = new Promise<Ending>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      isOver = true
      resolve({ code, signal })
      notify()
    })
  })

  function printed(pattern: RegExp, read: () => string): Promise<void> {
    return new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer)
        watchers.delete(look)
        settle()
      }
      const fail = (why: string) => finish(() => reject(new Error(`${why}: no ${pattern} in\n${stdout}${stderr}`)))
      const look = () => {
        if (pattern.test(read())) finish(resolve)
        else if (isOver) fail('the program ended')
      }
      const timer = setTimeout(() => fail('too late'), PATIENCE_MS)
      watchers.add(look)
      look()
    })
  }

  return { child, stdout: () => stdout, stderr: () => stderr, ended, printed }
}
