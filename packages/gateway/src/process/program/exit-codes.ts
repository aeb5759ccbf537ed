export const OK = 0
export const CANNOT_START = 1
export const BAD_CONFIG = 2

/** Prints the reason to stderr and returns the exit code. */
export function failWith(code: number, text: string): number {
  process.stderr.write(text.trimEnd() + '\n')
  return code
}
