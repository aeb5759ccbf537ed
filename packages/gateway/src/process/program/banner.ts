import type { Ir } from '../../ir/resources.ts'
import type { Guide } from '../../quick-start/guide.ts'
import type { TryRequest } from './try-request.ts'

interface Listening {
  ir: Ir
  ports: Readonly<Record<string, number>>
  addresses: Record<'admin' | 'stats' | 'readiness', string[]>
  guide: Guide | null
  /** A request to try; null when the config has none that is known to succeed. */
  attempt: TryRequest | null
  /** The edit token that was created for this run; null when there is none. */
  token: string | null
}

/** `banner` returns the lines that a start prints: addresses, the edit token and a request to try. */
export function banner(
  name: string,
  config: string,
  { ir, ports, addresses, guide, attempt, token }: Listening,
): string {
  const lines = [`${name} is running with ${config}`, '']
  for (const bind of ir.binds) {
    const protocols = [...new Set(ir.listeners.filter((l) => l.bind === bind.key).map((l) => l.protocol))].join(', ')
    lines.push(`  traffic    ${urlHost(bind.address)}:${ports[bind.key]}  (${protocols})`)
  }
  const pages = { admin: '/', stats: '/metrics', readiness: '/healthz/ready' }
  for (const [server, path] of Object.entries(pages)) {
    const address = addresses[server as keyof typeof addresses][0]
    lines.push(`  ${server.padEnd(10)} ${address === undefined ? 'off' : `http://${reachable(address)}${path}`}`)
  }
  const [admin] = addresses.admin
  if (guide !== null && admin !== undefined && !admin.startsWith('unix:')) {
    lines.push(`  web UI     http://${reachable(admin)}/ui/`)
    if (token !== null)
      lines.push(`  its token  ${token}  (needed to change the config there; valid until this process ends)`)
  }
  const first = ir.listeners.find((listener) => listener.protocol === 'HTTP')
  const port = first === undefined ? undefined : ports[first.bind]
  const { serves, tries } = guide !== null && port !== undefined ? guide(port) : { serves: [], tries: triesOf(attempt) }
  if (serves.length > 0) lines.push('', ...serves.map((line) => `  ${line}`))
  if (tries.length > 0) lines.push('', ...tries.map((line, at) => `${at === 0 ? 'try:' : '    '}  ${line}`.trimEnd()))
  return lines.join('\n') + '\n\n'
}

/** The route name is a shell comment, so that the line can be copied as a whole. */
function triesOf(attempt: TryRequest | null): string[] {
  if (attempt === null) return []
  const { curl, route, placeholders } = attempt
  const fill = placeholders.length === 0 ? '' : `, with your own value for ${placeholders.join(' and ')}`
  return [`${curl}  # route ${route}${fill}`]
}

function urlHost(address: string): string {
  if (address === '') return '*'
  return address.includes(':') ? `[${address}]` : address
}

/** A wildcard address is printed as loopback. */
function reachable(address: string): string {
  return address.replace(/^(0\.0\.0\.0|\[::\])(?=:)/, '127.0.0.1')
}
