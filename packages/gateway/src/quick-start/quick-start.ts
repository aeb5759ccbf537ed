import { quickStartModels } from './models.ts'
import { findToolServer, quickStartTools } from './tools.ts'
import type { Environment } from '../sources/substitute.ts'

/** What runs when no file is given. */
export type QuickStart = { text: string; guide: Guide } | { problem: string }

/** Tells people, right after the start, what there is and what to try. */
export type Guide = (port: number) => {
  /** What answers where: lines of the list of addresses. */
  serves: string[]
  tries: string[]
}

/** Something to talk to, reachable from this machine alone. `toolServer` is the program of an MCP server, if there is one. */
export function quickStart(env: Environment, toolServer: string | null = findToolServer()): QuickStart {
  const models = quickStartModels(env)
  if ('problem' in models) return models
  const tools = quickStartTools(toolServer)
  const text = `config:
  statsAddr: 127.0.0.1:15020
  readinessAddr: 127.0.0.1:15021
binds:
- port: \${PORT:-3000}
  address: 127.0.0.1
  listeners:
  - name: quick-start
    protocol: HTTP
    routes:
${[...models.routes, ...tools.routes].map((route) => `    - ${JSON.stringify(route)}`).join('\n')}
    - name: hello
      matches: [{ path: { exact: / } }]
      policies:
        directResponse:
          status: 200
          headers: [{ name: content-type, value: application/json }]
          body: '{"hello":"from Portico","next":"write a gateway.yaml and run: npx portico -f gateway.yaml"}'
`
  return { text, guide: (port) => together(models.guide(port), tools.guide(port)) }
}

function together(first: ReturnType<Guide>, second: ReturnType<Guide>): ReturnType<Guide> {
  return { serves: [...first.serves, ...second.serves], tries: [...first.tries, ...second.tries] }
}
