import { resolve } from 'node:path'
import type { LoadedConfig } from '../../sources/file.ts'

/** Returns the absolute path of the config's test file; null when the config names none. */
export function testsOf({ process: { verify }, text }: LoadedConfig): string | null {
  if (verify?.tests === undefined || text === undefined) return null
  return resolve(text.dir, verify.tests)
}
