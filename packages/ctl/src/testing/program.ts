import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { builtProgram, shippedProgram } from '../../../gateway/src/testing/shipped-program.ts'
import type { Io } from '../io.ts'
import { main } from '../main.ts'

/** The program, started as users start it. */

export const PROGRAM = shippedProgram('ctl')

export interface Output {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Readonly<Record<string, string>>
  stdin?: string
  /** The Node binary, when it differs from that of the test. */
  node?: string
}

interface RunningProgram {
  child: ChildProcess
  /** Resolves when standard error contains the text. */
  told(text: string): Promise<void>
  ended: Promise<Output>
}

const running = new Set<ChildProcess>()
// A failed test does not wait for the program.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export function startProgram(args: readonly string[], { env, stdin = '', node }: RunOptions = {}): RunningProgram {
  // The compile cache is shared, because tests start the program often.
  const base = { PATH: process.env['PATH'] ?? '', NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') }
  const program = node === undefined ? builtProgram('ctl') : PROGRAM
  const child = spawn(node ?? process.execPath, [program, ...args], { env: { ...base, ...env } })
  child.stdin.on('error', () => {})
  child.stdin.end(stdin)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  running.add(child)
  const ended = new Promise<Output>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, stdout, stderr })
    })
  })
  return {
    child,
    told: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (stderr.includes(text)) resolve()
        }
        child.stderr.on('data', look)
        child.on('close', () => reject(new Error(`ended without ${JSON.stringify(text)}:\n${stdout}${stderr}`)))
        look()
      }),
    ended,
  }
}

export function runProgram(args: readonly string[], options?: RunOptions): Promise<Output> {
  return startProgram(args, options).ended
}

/**
 * Runs a command in this process, with pipes for its streams: for tests of what a command prints and returns. A start of the
 * program takes most of a second of CPU.
 */
export async function runCommand(
  args: readonly string[],
  { env = {} }: Pick<RunOptions, 'env'> = {},
): Promise<Pick<Output, 'code' | 'stdout' | 'stderr'>> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  stdin.end()
  const printed = Promise.all([text(stdout), text(stderr)])
  const code = await main(args, { stdin, stdout, stderr, env } as unknown as Io)
  stdout.end()
  stderr.end()
  const [out, err] = await printed
  return { code, stdout: out, stderr: err }
}

/** A Node that is too old to run the program itself; null when none is installed. */
export function olderNode(): string | null {
  const found = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  return (
    found.filter(existsSync).find((node) => {
      const [major = 0] = execFileSync(node, ['-p', 'process.versions.node']).toString().split('.').map(Number)
      return major >= 20 && major < 24
    }) ?? null
  )
}
