import { defineCheck } from '../check.ts'
import { isLoopback } from '../hosts.ts'

export const backendIsGateway = defineCheck({
  code: 'backend-is-gateway',
  severity: 'error',
  summary: 'a backend that is the port of its own route',
  why: 'The gateway would send the request to itself. It notices the loop and responds with status 508.',
  fix: 'Write the address of the service behind the gateway.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "localhost:8080" }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ host: "localhost:9000" }]
`,
  run({ routes }, report) {
    for (const { bind, listener, backends, route } of routes) {
      if (bind.port === 0 || listener.hostname !== '' || route.hostnames.length > 0) continue
      for (const { entry, backend } of backends) {
        const { target } = backend
        if (target.kind !== 'static' || target.port !== bind.port || !isLoopback(target.host)) continue
        const found = `found ${target.host}:${target.port}, the port of this route`
        report({ part: entry }, { found, expected: 'another address' })
      }
    }
  },
})
