import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const passwordHashWeak = defineCheck({
  code: 'password-hash-weak',
  severity: 'warning',
  summary: 'a password with a hash that is guessed quickly',
  why: 'MD5 and SHA-1 hashes are made for speed. Whoever reads the config tries billions of passwords per second.',
  fix: 'Hash the password anew with `htpasswd -B`.',
  bad: `binds:
- port: 8080
  address: 127.0.0.1
  listeners:
  - routes:
    - policies:
        basicAuthentication: { users: ["ann:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g="] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  address: 127.0.0.1
  listeners:
  - routes:
    - policies:
        basicAuthentication: { users: ["ann:$2y$10$eImiTXuWVxfM37uY4JANjQOkC8J3VqYpA7pN9cX0q0nJ6mYy1oU3K"] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'traffic', 'basicAuthentication')) {
      for (const [key, users] of [
        ['users', config.users],
        ['secretRef', config.secretRef],
      ] as const) {
        for (const [index, { username, hash }] of (users ?? []).entries()) {
          const kind = hash.startsWith('{SHA}') ? 'SHA-1' : /^\$(?:apr1|1)\$/.test(hash) ? 'MD5' : null
          if (kind === null) continue
          const path = key === 'users' ? [key, index] : [key]
          report(
            { part: config, path },
            { found: `found a ${kind} hash of the user ${JSON.stringify(username)}`, expected: 'a bcrypt hash' },
          )
        }
      }
    }
  },
})
