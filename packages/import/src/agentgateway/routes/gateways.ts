import { Field } from '../../core/yaml-field.ts'

/** Members of a gateway or a listener that are not policies. */
const MEMBERS = ['port', 'listeners', 'name', 'hostname', 'protocol', 'tls', 'namespace']

/** Turns `gateways`, and the top-level routes that attach to them, into binds. */
export function bindsOfGateways(root: Field): Field[] {
  const mcp = root.get('mcp')
  const routes = [...(root.get('routes')?.items ?? []), ...(mcp?.get('gateways') == null ? [] : [mcp])]
  const llm = root.get('llm')
  const isOfModels = (name: string): boolean =>
    llm?.get('gateways') != null && namesOf(llm).some((each) => each.split('/')[0] === name)
  const tcpRoutes = root.get('tcpRoutes')?.items ?? []
  const used = new Set<Field>()
  const binds = (root.get('gateways')?.members ?? []).map(([name, gateway]) => {
    const listeners = gateway.get('listeners')?.items ?? [gateway]
    const built = listeners.map((listener) => {
      const own = (route: Field): boolean => {
        const isOwn = namesOf(route).some(
          (each) => each === name || each === `${name}/${listener.get('name')?.text ?? ''}`,
        )
        if (isOwn) used.add(route)
        return isOwn
      }
      const served = routes.filter(own).map((route) => (route === mcp ? routeOfMcp(mcp, PATHS) : route))
      return listenerOf(listener, served, { tcpRoutes: tcpRoutes.filter(own), llm: isOfModels(name) ? llm : null })
    })
    const port = gateway.get('port')
    return mappingOf(gateway, [
      ['port', port],
      ['listeners', listOf(gateway, built)],
    ])
  })
  for (const route of [...routes, ...tcpRoutes]) {
    if (used.has(route)) route.get('gateways')?.carried()
    else route.notCarried('no gateway or listener has the name that the route attaches to')
  }
  return binds
}

/** Returns the gateways that a route attaches to, as `name` or `name/listener`. */
function namesOf(route: Field): string[] {
  const field = route.get('gateways')
  if (field === null) return ['default']
  return field.text === null ? field.items.flatMap(({ text }) => text ?? []) : [field.text]
}

function listenerOf(
  field: Field,
  routes: readonly Field[],
  { tcpRoutes, llm }: { tcpRoutes: readonly Field[]; llm: Field | null },
): Field {
  const own = field.members.filter(([name]) => !MEMBERS.includes(name))
  // Adds `llm` as a policy that cannot be imported: a gateway with both models and routes is closed.
  const policies = llm === null ? own : [...own, ['llm', llm] as const]
  const isSecure = field.get('tls') !== null && field.get('protocol') === null
  return mappingOf(field, [
    ...['name', 'hostname', 'tls'].map((name) => [name, field.get(name)] as const),
    ['protocol', isSecure ? new Field('', field.at, { scalar: 'HTTPS' }) : field.get('protocol')],
    ['policies', policies.length === 0 ? null : mappingOf(field, policies)],
    ['routes', listOf(field, routes)],
    ['tcpRoutes', tcpRoutes.length === 0 ? null : listOf(field, tcpRoutes)],
  ])
}

/** The paths of MCP servers on a gateway that also has other routes. */
const PATHS = ['/mcp', '/sse', '/.well-known']

function routeOfMcp(mcp: Field, paths: readonly string[]): Field {
  const text = (scalar: string): Field => new Field('', mcp.at, { scalar })
  const matches = paths.map((path) => mappingOf(mcp, [['path', mappingOf(mcp, [['pathPrefix', text(path)]])]]))
  return mappingOf(mcp, [
    ['name', text('mcp')],
    ['matches', listOf(mcp, matches)],
    ['policies', mcp.get('policies')],
    ['backends', listOf(mcp, [mappingOf(mcp, [['mcp', mcp]])])],
  ])
}

/** Turns the section `mcp`, a port with MCP servers, into a bind. */
export function bindsOfMcp(mcp: Field | null): Field[] {
  if (mcp === null || mcp.get('gateways') !== null) return []
  const route = routeOfMcp(mcp, [])
  const listener = mappingOf(mcp, [['routes', listOf(mcp, [route])]])
  const port = mcp.get('port') ?? new Field('', mcp.at, { scalar: DEFAULT_MCP_PORT })
  return [
    mappingOf(mcp, [
      ['port', port],
      ['listeners', listOf(mcp, [listener])],
    ]),
  ]
}

const DEFAULT_MCP_PORT = 3_000

/** Builds a mapping from fields of the file. The file itself does not contain this mapping. */
function mappingOf(place: Field, members: readonly (readonly [string, Field | null])[]): Field {
  return place.part(new Map(members.flatMap(([name, field]) => (field === null ? [] : [[name, field] as const]))))
}

function listOf(place: Field, items: readonly Field[]): Field {
  return new Field(place.path, place.at, { items })
}
