import { withoutAbsent } from '../core/config-yaml.ts'
import { Scope } from './directive.ts'
import { type LocationRoute, printRoutes } from './routes.ts'
import type { Listen, Server } from './servers.ts'

/** A server with its routes. */
interface ServerRoutes {
  readonly server: Server
  readonly routes: readonly LocationRoute[]
}

/** The servers that share a port, the default one first. */
export interface PortServers {
  readonly port: number
  readonly address: string | null
  readonly isTls: boolean
  readonly servers: readonly ServerRoutes[]
}

/** Groups servers by port. A `listen` at a second address of a port, or with TLS beside plain text, is reported. */
export function portsOf(all: readonly ServerRoutes[]): PortServers[] {
  const ports = new Map<number, { first: Listen; servers: ServerRoutes[]; standard: ServerRoutes }>()
  for (const each of all) {
    for (const listen of each.server.listens) {
      const found = ports.get(listen.port)
      if (found === undefined) ports.set(listen.port, { first: listen, servers: [each], standard: each })
      else if (found.first.isTls !== listen.isTls)
        each.server.directive.changed(
          `the server is left out on port ${listen.port}, because a port has either TLS or plain text`,
        )
      else {
        if (found.first.address !== listen.address && !sameMachine(found.first, listen)) {
          each.server.directive.changed(
            `the gateway listens on all addresses of port ${listen.port}, because a port has one address`,
          )
        }
        if (!found.servers.includes(each)) found.servers.push(each)
        if (listen.isDefault) found.standard = each
        if (listen.address === null) found.first = { ...found.first, address: null }
      }
    }
  }
  return [...ports].map(([port, { first, servers, standard }]) => ({
    ...{ port, address: first.address, isTls: first.isTls },
    servers: [standard, ...servers.filter((each) => each !== standard)],
  }))
}

function sameMachine(a: Listen, b: Listen): boolean {
  return a.address === null || b.address === null
}

/** The `binds` of the config; `http` has the certificates of servers without their own. */
export function printBinds(ports: readonly PortServers[], http: Scope): object[] {
  return ports.map(({ port, address, isTls, servers }) =>
    withoutAbsent({
      port,
      address: address ?? undefined,
      listeners: isTls ? tlsListeners(servers, http) : [{ name: `http-${port}`, routes: plainRoutes(servers) }],
    }),
  )
}

/** All routes of a plain-text port in one listener; the default server takes the hosts that no other server has. */
function plainRoutes(servers: readonly ServerRoutes[]): object[] {
  const names = new Set<string>()
  return hostGroups(servers).flatMap(({ routes, hostnames }) =>
    printRoutes(routes, hostnames).map(({ name: own, printed }) => {
      let name = own
      for (let number = 2; names.has(name); number++) name = `${own}-${number}`
      names.add(name)
      return printed(name)
    }),
  )
}

/** The routes of each server with its hostnames; none for the default server. */
export function hostGroups(
  servers: readonly ServerRoutes[],
): { routes: readonly LocationRoute[]; hostnames: string[] }[] {
  const taken = new Set<string>()
  const own = servers.map(({ server, routes }) => ({
    routes,
    // The first server with a name has it.
    hostnames: server.names.filter((name) => !taken.has(name) && taken.add(name) !== undefined),
  }))
  const [standard, ...others] = own
  if (standard === undefined) return []
  const wildcards = others.flatMap(({ hostnames }) => hostnames.filter((name) => name.startsWith('*')))
  const covered = standard.hostnames.filter((name) => wildcards.some((wildcard) => name.endsWith(wildcard.slice(1))))
  return [
    { routes: standard.routes, hostnames: [] },
    // A wildcard of another server comes before the default server, but not before its names.
    ...(covered.length > 0 ? [{ routes: standard.routes, hostnames: covered }] : []),
    ...others.filter(({ hostnames }) => hostnames.length > 0),
  ]
}

/** A listener for each name, because the name of the handshake chooses the certificate. */
function tlsListeners(servers: readonly ServerRoutes[], http: Scope): object[] {
  const taken = new Set<string>()
  return servers.flatMap(({ server, routes }, index) => {
    const tls = certificateOf(server, http)
    const names = server.names.filter((name) => !taken.has(name) && taken.add(name) !== undefined)
    const hosts = index === 0 ? [null, ...names] : names
    return hosts.map((hostname) =>
      withoutAbsent({
        name: (hostname ?? 'default').replace('*', 'any').slice(0, 63),
        protocol: 'HTTPS',
        hostname: hostname ?? undefined,
        tls,
        routes: printRoutes(routes, []).map(({ name, printed }) => printed(name)),
      }),
    )
  })
}

function certificateOf({ directive }: Server, http: Scope): object {
  const scope = new Scope(directive.block ?? [], http)
  const at = (name: string) => scope.one(name)
  const [cert, key, client] = [at('ssl_certificate'), at('ssl_certificate_key'), at('ssl_client_certificate')]
  const verify = at('ssl_verify_client')
  for (const each of [cert, key]) each?.carried('copy the file to this path, or change the path')
  const isRequired = verify?.args[0] === 'on'
  if (isRequired) for (const each of [client, verify]) each?.carried()
  return withoutAbsent({
    cert: cert?.args[0] ?? 'missing-certificate.pem',
    key: key?.args[0] ?? 'missing-key.pem',
    root: isRequired ? (client?.args[0] ?? 'missing-root.pem') : undefined,
  })
}
