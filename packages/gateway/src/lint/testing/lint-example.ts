import { createAuthority } from '../../testing/certificates.ts'
import { lintText, type LintReport } from '../lint.ts'

const authority = createAuthority()
const valid = authority.issue({ names: ['shop.example.com'], validToDays: 365 })
const ending = authority.issue({ names: ['shop.example.com'], validToDays: 10 })

/** The files that examples of certificates refer to. */
const FILES: Readonly<Record<string, string>> = {
  'tls.crt': valid.cert,
  'tls.key': valid.key,
  'ends-soon.crt': ending.cert,
  'ends-soon.key': ending.key,
  'ca.crt': authority.cert,
}

const ENV = {
  ANN_KEY: 'k-4f2a-93b1-77c0-random',
  USERS: `ann:$2y$10$${'a'.repeat(53)}`,
  OPENAI_API_KEY: 'sk-test',
  CRM_TOKEN: 'crm-token',
  OPS_TOKEN: 'ops-token-0123456789',
}

/** Lints the text of an example, with certificates and variables that examples may use. */
export function lintExample(text: string): LintReport {
  return lintText(text, {
    ...{ file: 'gateway.yaml', dir: '/', env: ENV, now: Date.now() },
    readFile: (path) => FILES[path.slice(1)] ?? '',
  })
}
