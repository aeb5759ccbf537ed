import { defineCheck } from '../check.ts'
import { configsOf, formsOf } from '../subject.ts'

export const limitNeverReached = defineCheck({
  code: 'limit-never-reached',
  severity: 'warning',
  summary: 'a limit that another limit of the same key keeps from being reached',
  why: 'A limit of 10 requests each second allows 600 each minute, so a limit of 1,000 each minute never denies anything.',
  fix: 'Lower the limit of the longer window, or remove it.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        rateLimit: { local: [{ requests: 10, unit: Seconds }, { requests: 1000, unit: Minutes }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        rateLimit: { local: [{ requests: 10, unit: Seconds }, { requests: 300, unit: Minutes }] }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    for (const policy of configsOf(subject, 'traffic', 'rateLimit')) {
      for (const { config, path } of formsOf(policy)) {
        const limits = config.local ?? []
        for (const [index, limit] of limits.entries()) {
          const shorter = limits.find((other) => other !== limit && isImplied(limit, other))
          if (shorter === undefined) continue
          const rate = `${shorter.requests ?? shorter.tokens ?? 0} in each of its ${shorter.unit}`
          const found = `found a limit that the limit of ${rate} keeps from being reached`
          report({ part: policy, path: [...path, 'local', index] }, { found, expected: 'a lower limit' })
        }
      }
    }
  },
})

interface Limit {
  readonly requests?: number | undefined
  readonly tokens?: number | undefined
  readonly unit: keyof typeof SECONDS
  readonly burst: number
  readonly key?: string | undefined
}

/** Whether a budget of the longer window is never used up, because the other limit of the same key denies before. */
function isImplied(long: Limit, short: Limit): boolean {
  if (long.key !== short.key || SECONDS[short.unit] >= SECONDS[long.unit]) return false
  if ((long.requests === undefined) !== (short.requests === undefined) || long.tokens !== undefined) return false
  const windows = SECONDS[long.unit] / SECONDS[short.unit]
  // Windows of both limits may begin at different times.
  const most = (short.requests ?? 0) * (windows + 1) + short.burst
  return (long.requests ?? 0) >= most
}

const SECONDS = { Seconds: 1, Minutes: 60, Hours: 3_600 } as const
