import { defineCheck } from '../check.ts'

export const stdioShell = defineCheck({
  code: 'stdio-shell',
  severity: 'warning',
  summary: 'an MCP server that a shell starts',
  why: 'A shell expands what stands in its command line. A variable that holds `;` or `$(…)` then runs another program. Signals also reach the shell instead of the server, which then keeps running.',
  fix: 'Write the program in `cmd` and its arguments in `args`.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          targets:
          - name: files
            stdio: { cmd: sh, args: [-c, "npx server-filesystem $FOLDER"] }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          targets:
          - name: files
            stdio: { cmd: npx, args: [server-filesystem, "."] }
`,
  run({ ir }, report) {
    for (const { target } of ir.backends) {
      if (target.kind !== 'mcp') continue
      for (const { reached } of target.targets) {
        if (reached.by !== 'stdio') continue
        const program =
          reached.cmd
            .split(/[/\\]/)
            .at(-1)
            ?.replace(/\.exe$/i, '') ?? ''
        const runsText = reached.args.some((arg) => /^(?:-\w*c|\/c|-command)$/i.test(arg))
        if (!SHELLS.has(program.toLowerCase()) || !runsText) continue
        report(
          { part: reached.args, path: [] },
          { found: `found the shell \`${program}\``, expected: 'the program itself' },
        )
      }
    }
  },
})

const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish', 'cmd', 'powershell', 'pwsh'])
