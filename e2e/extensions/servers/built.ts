import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The path of a program that `build.sh` builds. It depends on the lock files, as in the script. */
export function built(
  name: 'ratelimit' | 'opa' | 'otelcol' | 'compose' | 'envoy' | 'mesh',
  ...files: string[]
): string {
  const { PORTICO_E2E_CACHE, XDG_CACHE_HOME } = process.env
  const cache = PORTICO_E2E_CACHE ?? join(XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'portico-e2e')
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(new URL(`${name}/${file}`, import.meta.url)))
  return join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`)
}
