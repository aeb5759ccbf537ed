import { defineCheck } from '../check.ts'

export const stdioCommandLine = defineCheck({
  code: 'stdio-command-line',
  severity: 'error',
  summary: 'a command line where the name of a program belongs',
  why: 'The gateway starts programs without a shell, so `npx server` is looked up as one file with a space in its name. The server never starts.',
  fix: 'Write the program in `cmd` and each argument as an item of `args`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          targets:
          - { name: files, stdio: { cmd: npx -y server-filesystem } }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          targets:
          - { name: files, stdio: { cmd: npx, args: [-y, server-filesystem] } }
`,
  run({ ir }, report) {
    for (const { target } of ir.backends) {
      if (target.kind !== 'mcp') continue
      for (const { reached } of target.targets) {
        // Paths may have spaces.
        if (reached.by !== 'stdio' || !/^[^/\\\s]+\s+\S/.test(reached.cmd)) continue
        const [program = ''] = reached.cmd.split(/\s/)
        report(
          { part: reached.args },
          { found: `found a command line in \`cmd\``, expected: `\`cmd: ${program}\` and the rest in \`args\`` },
        )
      }
    }
  },
})
