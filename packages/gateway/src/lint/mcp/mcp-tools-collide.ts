import { defineCheck } from '../check.ts'

export const mcpToolsCollide = defineCheck({
  code: 'mcp-tools-collide',
  severity: 'warning',
  summary: 'tools of two targets with one name',
  why: 'With `prefixMode: Never`, a name that two targets have is left out of lists, and calling it is an error.',
  fix: 'Rename one of the tools (`tools.rename`), exclude it, or use prefixes.',
  bad: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          prefixMode: Never
          targets:
          - name: books
            openapi:
              host: 127.0.0.1
              port: 9000
              schema: { inline: { openapi: 3.1.0, info: { title: a, version: "1" }, paths: { /a: { get: { operationId: find } } } } }
          - name: films
            openapi:
              host: 127.0.0.1
              port: 9001
              schema: { inline: { openapi: 3.1.0, info: { title: b, version: "1" }, paths: { /b: { get: { operationId: find } } } } }
`,
  good: `binds:
- port: 8080
  listeners:
  - routes:
    - backends:
      - mcp:
          prefixMode: Never
          targets:
          - name: books
            openapi:
              host: 127.0.0.1
              port: 9000
              schema: { inline: { openapi: 3.1.0, info: { title: a, version: "1" }, paths: { /a: { get: { operationId: find } } } } }
          - name: films
            tools: { rename: { find: find_film } }
            openapi:
              host: 127.0.0.1
              port: 9001
              schema: { inline: { openapi: 3.1.0, info: { title: b, version: "1" }, paths: { /b: { get: { operationId: find } } } } }
`,
  run({ ir }, report) {
    for (const backend of ir.backends) {
      const { target } = backend
      if (target.kind !== 'mcp' || target.prefixMode !== 'Never') continue
      const owners = new Map<string, string>()
      for (const [index, { name, reached, tools }] of target.targets.entries()) {
        if (reached.by !== 'openapi') continue
        for (const { tool } of reached.tools.operations) {
          const isExcluded = tools?.exclude.includes(tool.name) === true
          if (isExcluded || (tools?.include !== undefined && !tools.include.includes(tool.name))) continue
          const shown = tools?.rename[tool.name] ?? tool.name
          const owner = owners.get(shown)
          if (owner !== undefined && owner !== name) {
            report(
              { part: backend, path: ['mcp', 'targets', index] },
              { found: `found the tool \`${shown}\`, which \`${owner}\` has too`, expected: 'different names' },
            )
          }
          owners.set(shown, owner ?? name)
        }
      }
    }
  },
})
