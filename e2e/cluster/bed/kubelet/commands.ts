import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Runs a script to its end; fails with what it said. */
export async function run(program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, args, { maxBuffer: 16 * 1024 * 1024 })
  return stdout
}

/** A word of a shell's command. */
export function quoted(word: string | number): string {
  return `'${String(word).replaceAll("'", String.raw`'\''`)}'`
}
