import { defineCheck } from '../check.ts'
import { configsOf } from '../subject.ts'

export const mirrorBodyLarge = defineCheck({
  code: 'mirror-body-large',
  severity: 'warning',
  summary: 'copies of requests that may take much memory',
  why: 'The part of a body that the mirror has not read is buffered up to `frontend.http.maxBufferSize`, for up to 256 copies of a route in each worker. A slow mirror then fills the memory.',
  fix: 'Lower `maxBufferSize`, or mirror a route without large bodies.',
  bad: `frontend:
  http: { maxBufferSize: 256Mi }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        requestMirror: { backend: "127.0.0.1:9001" }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  good: `frontend:
  http: { maxBufferSize: 4Mi }
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        requestMirror: { backend: "127.0.0.1:9001" }
      backends: [{ host: "127.0.0.1:9000" }]
`,
  run(subject, report) {
    const size = subject.frontend.http?.maxBufferSize
    if (size === undefined || size < LARGE) return
    for (const config of configsOf(subject, 'traffic', 'requestMirror')) {
      report(
        { part: config },
        {
          found: `found a mirror with buffers of ${Math.round(size / 2 ** 20)} MiB for each copy`,
          expected: `\`frontend.http.maxBufferSize\` below ${LARGE / 2 ** 20} MiB`,
        },
      )
    }
  },
})

const LARGE = 64 * 2 ** 20
