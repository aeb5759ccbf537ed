import { defineCheck } from '../check.ts'

export const backendNeverCalled = defineCheck({
  code: 'backend-never-called',
  severity: 'warning',
  summary: 'a backend of a route whose policies respond themselves',
  why: '`directResponse` and `requestRedirect` answer every request of the route, so its backends get none.',
  fix: 'Remove the backends, or move the policy to a route of its own.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        directResponse: { status: 503, body: maintenance }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        directResponse: { status: 503, body: maintenance }
`,
  run({ routes }, report) {
    for (const { route, traffic } of routes) {
      const [entry] = route.backends
      if (entry === undefined) continue
      const policy = (['directResponse', 'requestRedirect'] as const).find((name) => {
        const config = traffic[name]?.configs.at(-1)
        return config !== undefined && !('conditional' in config && config.conditional !== undefined)
      })
      // A policy that holds for many routes may be a switch for maintenance.
      if (policy === undefined || !(traffic[policy]?.origin ?? '').includes(route.key)) continue
      report({ part: entry }, { found: `found a backend beside \`${policy}\``, expected: 'one of the two' })
    }
  },
})
