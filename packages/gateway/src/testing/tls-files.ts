import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createAuthority, type TestAuthority } from './certificates.ts'

/** A folder with `ca.crt`, and `<name>.crt` and `<name>.key` for each name, with that name in the certificate. */
export function useTlsFiles(t: TestContext, names: string[]): { dir: string; authority: TestAuthority } {
  const dir = mkdtempSync(join(tmpdir(), 'tls-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const authority = createAuthority()
  writeFileSync(join(dir, 'ca.crt'), authority.cert)
  for (const name of names) {
    const { cert, key } = authority.issue({ commonName: name, names: [name] })
    writeFileSync(join(dir, `${name}.crt`), cert)
    writeFileSync(join(dir, `${name}.key`), key)
  }
  return { dir, authority }
}
