import { defineCheck } from '../check.ts'
import { isPrivate } from '../hosts.ts'
import { configsOf } from '../subject.ts'

export const originOverHttp = defineCheck({
  code: 'origin-over-http',
  severity: 'warning',
  summary: 'a trusted origin without TLS',
  why: 'Whoever controls the network of a visitor can serve any page from an `http` origin, and that page may then use the credentials of the visitor here.',
  fix: 'Use the `https` origin.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        cors: { allowOrigins: ["http://app.example.com"], allowCredentials: true }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        cors: { allowOrigins: ["https://app.example.com"], allowCredentials: true }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    const lists = [
      ...configsOf(subject, 'traffic', 'cors').map((part) => ({
        part,
        key: 'allowOrigins',
        origins: part.allowCredentials ? part.allowOrigins : [],
      })),
      ...configsOf(subject, 'traffic', 'csrf').map((part) => ({
        part,
        key: 'additionalOrigins',
        origins: part.additionalOrigins ?? [],
      })),
    ]
    for (const { part, key, origins } of lists) {
      for (const [index, origin] of origins.entries()) {
        const host = /^http:\/\/(\[[^\]]*\]|[^:/]*)/i.exec(origin)?.[1]
        if (host === undefined || host === '*' || isPrivate(host)) continue
        report(
          { part, path: [key, index] },
          { found: `found the origin \`${origin}\``, expected: 'an origin with `https`' },
        )
      }
    }
  },
})
