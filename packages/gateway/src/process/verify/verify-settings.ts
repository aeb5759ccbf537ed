import { resolve } from 'node:path'
import type { LoadedConfig } from '../../sources/file.ts'

/** The absolute path of the tests of a config; null when it names none. */
export function testsOf({ process: { verify }, text }: LoadedConfig): string | null {
  if (verify?.tests === undefined || text === undefined) return null
  return resolve(text.dir, verify.tests)
}
