import { defineCheck } from '../check.ts'
import { isLoopback } from '../hosts.ts'

export const adminAddressOpen = defineCheck({
  code: 'admin-address-open',
  severity: 'error',
  summary: 'an admin server that other machines reach, without a token',
  why: 'The admin server shows requests and changes settings. The gateway does not start it on such an address without a token.',
  fix: 'Add `config.admin.tokens` or set `ADMIN_TOKEN`, or use `localhost`.',
  bad: `config: { adminAddr: "0.0.0.0:15000" }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `config:
  adminAddr: "0.0.0.0:15000"
  admin: { tokens: [{ name: ops, scope: Read, secretRef: { env: OPS_TOKEN } }] }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "127.0.0.1:9000" }]
`,
  run({ process, env }, report) {
    const address = printAddress(process.adminAddr)
    const host = address.slice(0, address.lastIndexOf(':'))
    if (isLoopback(host) || env['ADMIN_TOKEN'] || (process.admin?.tokens ?? []).length > 0) return
    report(
      { file: ['config', 'adminAddr'] },
      { found: `found ${address} without a token`, expected: 'a token, or a loopback address' },
    )
  },
})

function printAddress(address: unknown): string {
  if (typeof address === 'string') return address
  const { host = '', port = 0 } = address as { host?: string; port?: number }
  return `${host}:${port}`
}
