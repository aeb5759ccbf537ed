import { defineCheck } from '../check.ts'

export const stdioInheritsEnvironment = defineCheck({
  code: 'stdio-inherits-environment',
  severity: 'warning',
  summary: 'an MCP server that gets the environment of the gateway',
  why: 'With `clearEnv: false`, the program reads the secrets that the gateway has in its environment, except a few known names.',
  fix: 'Remove `clearEnv`, and list the variables that the program needs in `env`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          targets:
          - { name: files, stdio: { cmd: server-filesystem, clearEnv: false } }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          targets:
          - { name: files, stdio: { cmd: server-filesystem, env: { ROOT: /srv } } }
`,
  run({ ir }, report) {
    for (const { target } of ir.backends) {
      if (target.kind !== 'mcp') continue
      for (const { reached, name } of target.targets) {
        if (reached.by !== 'stdio' || reached.clearEnv) continue
        report(
          { part: reached.args },
          { found: `found \`clearEnv: false\` for the program of \`${name}\``, expected: 'the variables in `env`' },
        )
      }
    }
  },
})
