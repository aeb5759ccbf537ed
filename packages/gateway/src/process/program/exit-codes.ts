export const OK = 0
export const CANNOT_START = 1
export const BAD_CONFIG = 2

/** Says why, and gives the exit code. */
export function refuse(code: number, text: string): number {
  process.stderr.write(text.trimEnd() + '\n')
  return code
}
