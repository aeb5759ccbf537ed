import { defineCheck } from '../check.ts'

export const backendUnused = defineCheck({
  code: 'backend-unused',
  severity: 'warning',
  summary: 'a backend to which no route and no policy refers',
  why: 'The backend does nothing. Often a route names another backend by mistake.',
  fix: 'Remove the backend, or refer to it.',
  bad: `backends:
- name: orders
  static: { host: 127.0.0.1, port: 9000 }
- name: orders-old
  static: { host: 127.0.0.1, port: 9001 }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ backend: orders }]
`,
  good: `backends:
- name: orders
  static: { host: 127.0.0.1, port: 9000 }
binds:
- port: 8080
  listeners:
  - routes:
    - backends: [{ backend: orders }]
`,
  run({ ir, isFile }, report) {
    // In a cluster, a GwBackend may wait for a route of another team.
    if (!isFile) return
    const used = new Set<string>()
    collectKeys([ir.routes, ir.policies.map(({ frontend, traffic, backend }) => [frontend, traffic, backend])], used)
    for (const { key, target } of ir.backends) {
      const below = new Set<string>()
      collectKeys(target, below)
      for (const name of below) if (name !== key) used.add(name)
    }
    for (const backend of ir.backends) {
      if (!/^backend\/[^/]+$/.test(backend.key) || used.has(backend.key)) continue
      const found = `found the backend \`${backend.name}\`, to which nothing refers`
      report({ part: backend }, { found, expected: 'a route or a policy that names it' })
    }
  },
})

function collectKeys(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') {
    if (value.startsWith('backend/')) found.add(value.split('/section/')[0] ?? value)
    return
  }
  if (typeof value !== 'object' || value === null) return
  // References of policies have names without the prefix.
  if ('name' in value && typeof value.name === 'string') found.add(`backend/${value.name}`)
  for (const child of Object.values(value)) collectKeys(child, found)
}
