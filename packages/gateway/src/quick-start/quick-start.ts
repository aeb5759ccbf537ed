import type { Guide } from './guide.ts'
import { type QuickStartPorts, usualPorts } from './free-ports.ts'
import { quickStartModels } from './models.ts'
import { printItems } from './print-items.ts'
import { findToolServer, quickStartTools } from './tools.ts'
import type { Environment } from '../sources/substitute.ts'

/** The config that runs when no file is given. */
type QuickStart = { text: string; guide: Guide } | { problem: string }

interface QuickStartOptions {
  /** The program of an MCP server, if there is one. */
  toolServer?: string | null
  ports?: QuickStartPorts
}

/** Something to talk to, reachable from this machine alone. */
export function quickStart(
  env: Environment,
  { toolServer = findToolServer(), ports = usualPorts }: QuickStartOptions = {},
): QuickStart {
  const models = quickStartModels(env)
  if ('problem' in models) return models
  const tools = quickStartTools(toolServer)
  const text = `config:
  adminAddr: localhost:${ports.admin}
  statsAddr: 127.0.0.1:${ports.stats}
  readinessAddr: 127.0.0.1:${ports.readiness}
  ui: { edit: true }
binds:
- port: \${PORT:-${ports.traffic}}
  address: 127.0.0.1
  listeners:
  - name: quick-start
    protocol: HTTP
    routes:
    # To see a refusal explained, change the address in the rule of "models", apply it, and send
    # a chat from the page Models. The tab History goes back.
${printItems([...models.routes, ...tools.routes], '    ')}    - name: hello
      matches: [{ path: { exact: / } }]
      policies:
        directResponse:
          status: 200
          headers: [{ name: content-type, value: application/json }]
          body: '{"hello":"from Portico","next":"write a gateway.yaml and run: portico -f gateway.yaml"}'
`
  const parts = [movedGuide(ports), models.guide, tools.guide]
  const guide: Guide = (port) => {
    const told = parts.map((part) => part(port))
    return { serves: told.flatMap(({ serves }) => serves), tries: told.flatMap(({ tries }) => tries) }
  }
  return { text, guide }
}

/** Other programs look for the gateway on its usual ports: they have to be told. */
function movedGuide({ admin }: QuickStartPorts): Guide {
  if (admin === usualPorts.admin) return () => ({ serves: [], tries: [] })
  const serves = [
    `The usual ports are in use: PORTICO_ADMIN_ADDR=127.0.0.1:${admin} tells porticoctl where this one is.`,
    '',
  ]
  return () => ({ serves, tries: [] })
}
