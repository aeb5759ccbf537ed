import { exitCode, type Io } from './io.ts'
import { printable } from './printable.ts'

/** Prints the problem on standard error; returns the exit code of a failed command. */
export function failWith(problem: string, io: Io): number {
  io.stderr.write(`porticoctl: ${printable(problem)}\n`)
  return exitCode.failed
}
