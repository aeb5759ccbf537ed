import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const guardDelaysStream = defineCheck({
  code: 'guard-delays-stream',
  severity: 'warning',
  summary: 'several guards that make each part of a stream wait for a service',
  why: 'A streamed response waits until each guard has checked 1,024 characters, one call after the other. With several remote guards, clients see text in bursts, and the delays add up.',
  fix: 'Keep one remote guard for responses, and use `regex` for what patterns can find.',
  bad: `backends:
- name: privacy
  static: { host: 127.0.0.1, port: 9001 }
- name: safety
  static: { host: 127.0.0.1, port: 9002 }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        backend:
          ai:
            promptGuard:
              response:
              - webhook: { backendRef: { name: privacy } }
              - webhook: { backendRef: { name: safety } }
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  good: `backends:
- name: privacy
  static: { host: 127.0.0.1, port: 9001 }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        backend:
          ai:
            promptGuard:
              response:
              - webhook: { backendRef: { name: privacy } }
              - regex: { builtins: [Email] }
      backends: [{ ai: { provider: { mock: {} } } }]
`,
  run(subject, report) {
    for (const config of configsOf(subject, 'backend', 'ai')) {
      const remote = (config.promptGuard?.response ?? []).flatMap((guard, index) =>
        guard.regex === undefined ? [index] : [],
      )
      const [, second] = remote
      if (second === undefined) continue
      report(
        { part: config, path: ['promptGuard', 'response', second] },
        { found: `found ${remote.length} guards of responses that call a service`, expected: 'at most one' },
      )
    }
  },
})
