import { defineCheck } from '../check.ts'

export const mcpHostCheckOff = defineCheck({
  code: 'mcp-host-check-off',
  severity: 'warning',
  summary: 'an MCP endpoint that accepts requests of every page',
  why: 'A page that a person visits can send requests to MCP servers on that person’s machine or network, by DNS rebinding. The checks of `Host` and `Origin` prevent it.',
  fix: 'List the hosts and origins of your clients, or remove the setting.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          allowedOrigins: ["*"]
          targets: [{ name: wiki, static: { host: 127.0.0.1, port: 9001 } }]
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          allowedOrigins: ["https://app.example.com"]
          targets: [{ name: wiki, static: { host: 127.0.0.1, port: 9001 } }]
`,
  run({ routes }, report) {
    for (const view of routes) {
      // A credential that pages do not have protects as well.
      if (AUTHENTICATIONS.some((name) => view.traffic[name] !== undefined || view.early[name] !== undefined)) continue
      for (const { backend } of view.backends) {
        const { target } = backend
        if (target.kind !== 'mcp') continue
        for (const key of ['allowedHosts', 'allowedOrigins'] as const) {
          const index = target[key]?.indexOf('*') ?? -1
          if (index !== -1)
            report(
              { part: backend, path: ['mcp', key, index] },
              {
                found: `found \`*\` in \`${key}\` of a route without authentication`,
                expected: 'the names of your clients',
              },
            )
        }
      }
    }
  },
})

const AUTHENTICATIONS = ['jwtAuthentication', 'mcpAuthentication', 'apiKeyAuthentication'] as const
