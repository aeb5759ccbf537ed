import type { Field } from '../../core/yaml-field.ts'
import { objectName } from '../backends/ai.ts'
import { readBackend } from '../backends/backends.ts'
import { readPolicies } from '../policies/effects.ts'
import { routePolicies } from '../policies/tables.ts'
import { list, lost, membersOf, scalar, type Scope } from '../values/convert.ts'
import { whyInvalidConfig } from '../values/validity.ts'

/**
 * Reads the routes of a TCP or TLS listener. If one route cannot be imported, all are left out, so that no other route
 * takes its connections.
 */
export function readTcpRoutes(listener: Field, scope: Scope, isTls: boolean): object[] {
  const fields = listener.get('tcpRoutes')?.items ?? []
  const routes = fields.map((field, index) => readTcpRoute(field, index, scope, isTls))
  const others = isTls ? [] : fields.slice(1)
  for (const field of others)
    field.notCarried('a listener without TLS has one route, because nothing tells its connections apart', true)
  if (others.length === 0 && !routes.includes(null)) return withUniqueNames(routes as PrintedTcpRoute[])
  listener.get('tcpRoutes')?.amendLosses('connections of the listener are closed', true)
  return []
}

interface PrintedTcpRoute {
  readonly name: string
}

/** Adds the index of a route to its name when an earlier route has the same name. */
function withUniqueNames(routes: readonly PrintedTcpRoute[]): object[] {
  return routes.map((route, index) => {
    const isTaken = routes.slice(0, index).some(({ name }) => name === route.name)
    return isTaken ? { ...route, name: `${route.name}-${index}` } : route
  })
}

function readTcpRoute(field: Field, index: number, scope: Scope, isTls: boolean): PrintedTcpRoute | null {
  field.get('namespace')?.carried('the field has no effect')
  const { name, hostnames } = membersOf(field, { name: scalar, hostnames: list(scalar) }, scope)
  const { policies, status } = readPolicies(field.get('policies'), routePolicies(false), scope, 'traffic')
  const backends = (field.get('backends')?.items ?? []).map((each) => ({ each, read: readBackend(each, scope) }))
  for (const { each } of backends) each.get('weight')?.carried()
  if (!isTls) field.get('hostnames')?.carried('connections without TLS have no server name')
  const route = {
    name: objectName(typeof name === 'string' ? name : `tcproute${index}`),
    ...(isTls && Array.isArray(hostnames) && hostnames.length > 0 && { hostnames }),
    ...(Object.keys(policies).length > 0 && { policies }),
    backends: backends.map(({ each, read }) => ({
      ...(each.get('weight')?.number != null && { weight: each.get('weight')?.number }),
      ...read.backend,
      ...(Object.keys(read.policies).length > 0 && { policies: read.policies }),
    })),
  }
  const fields = [field, ...backends.map(({ each }) => each)]
  if (fields.map(hasOthers).includes(true)) return null
  if (backends.length === 0) return lost(field, 'the route has no backend') ?? null
  if (status !== null || backends.some(({ read }) => read.status !== null)) return null
  const chosen = backends.filter(({ each, read }) => !isFixed(each, read.backend, scope))
  for (const { each } of chosen) each.notCarried('TCP routes need one backend with a fixed address', true)
  if (chosen.length > 0) return null
  const why = whyInvalidConfig({ binds: [{ port: 1, listeners: [{ protocol: 'TCP', routes: [route] }] }] }, scope, 6)
  if (why === null) return route
  field.notCarried(why)
  return null
}

/** Whether a backend has a fixed address, directly or by its name. */
function isFixed(field: Field, backend: object, { backends }: Scope): boolean {
  return 'host' in backend || backends.isStatic(field.get('backend')?.text ?? '')
}

const TCP_MEMBERS = ['backendTLS', 'backendTunnel']
const HTTP_BACKENDS = ['ai', 'mcp', 'aws']

/** Notes policies and backends that only HTTP routes can have; returns whether there are some. */
function hasOthers(field: Field): boolean {
  const policies = (field.get('policies')?.members ?? []).filter(([name]) => !TCP_MEMBERS.includes(name))
  const kinds = field.members.filter(([name]) => HTTP_BACKENDS.includes(name))
  for (const [, member] of [...policies, ...kinds])
    member.notCarried('TCP routes of Portico do not support this field', true)
  return policies.length + kinds.length > 0
}
