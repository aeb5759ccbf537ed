import type { SourcePosition } from '../../core/source.ts'
import type { Field } from '../../core/yaml-field.ts'
import { objectName, worst } from '../backends/ai.ts'
import { type Effects, readPolicies } from '../policies/effects.ts'
import { LISTENER_POLICIES } from '../policies/tables.ts'
import { choice, lost, mapping, membersOf, missing, scalar, type Scope } from '../values/convert.ts'
import { inOrderOfKeys, keyOf } from './precedence.ts'
import { inherit, printRoute, type ReadRoute, readRoute } from './routes.ts'
import { readTcpRoutes } from './tcp-routes.ts'

/** An imported listener of agentgateway. */
export interface ReadListener {
  readonly name: string
  readonly at: SourcePosition
  /** The hostname of the listener; null for a listener that takes every host. */
  readonly hostname: string | null
  readonly isTls: boolean
  /** Whether the listener refuses TLS 1.2. */
  readonly isModern: boolean
  /** The policies of the listener that run before routing. */
  readonly policies: Readonly<Record<string, unknown>>
  readonly routes: readonly ReadRoute[]
  /** The status of requests that no route matches. */
  readonly otherwise: 403 | 404
  readonly printed: object
}

/** The policies that apply to a listener and its routes but are written in other parts of the file. */
export interface SharedPolicies {
  readonly early: Effects
  readonly late: Effects
  /** Returns the policies that target a route, whose key is `namespace/name`. */
  ofRoute(this: void, key: string): Effects
}

/** Finds the policies for a listener in other parts of the file. */
export type FindSharedPolicies = (port: number, name: string) => SharedPolicies

const PROTOCOLS = choice({ HTTP: 'HTTP', HTTPS: 'HTTPS', TLS: 'TLS', TCP: 'TCP' })

const tls = mapping({
  cert: scalar,
  key: scalar,
  root: scalar,
  minTLSVersion: minimum,
  minTlsVersion: minimum,
  maxTLSVersion: missing('configure frontend.tls.maxProtocolVersion'),
  maxTlsVersion: missing('configure frontend.tls.maxProtocolVersion'),
  cipherSuites: missing('configure frontend.tls.cipherSuites'),
  keyExchangeGroups: missing('configure frontend.tls.keyExchangeGroups'),
})

/**
 * Reads the minimum TLS version. The default of both gateways is TLS 1.2, and Portico has one minimum for all ports.
 */
function minimum(field: Field): undefined {
  if (field.text === 'TLS_V1_2') field.carried('the value is the default')
  else if (field.text === 'TLS_V1_3')
    field.changed('Portico has one minimum version for all ports: frontend.tls.minProtocolVersion')
  else field.notCarried('configure frontend.tls.minProtocolVersion', true)
  return undefined
}

/** Reads a listener; returns null when its port must stay closed. */
export function readListener(
  field: Field,
  index: number,
  scope: Scope,
  inherited: SharedPolicies,
): ReadListener | null {
  field.get('namespace')?.carried('the field has no effect')
  const found = membersOf(field, { name: scalar, hostname: scalar, protocol: PROTOCOLS }, scope)
  const protocol = field.get('protocol') === null ? 'HTTP' : found['protocol']
  const certificates = field.get('tls') === null ? undefined : tls(field.get('tls') ?? field, scope)
  const { cert, key } = (certificates ?? {}) as { cert?: unknown; key?: unknown }
  const isHttps = protocol === 'HTTPS'
  const host = found['hostname']
  if (
    protocol === undefined ||
    (isHttps && (cert === undefined || key === undefined)) ||
    (!isHttps && certificates !== undefined)
  ) {
    field.get('tls')?.notCarried('expected the protocol HTTPS with cert and key; the port is not opened', true)
    return null
  }
  const name = objectName(typeof found['name'] === 'string' ? found['name'] : `listener${index}`)
  const head = {
    name,
    ...(protocol !== 'HTTP' && { protocol }),
    ...(host !== undefined && host !== '*' && host !== '' && { hostname: host }),
    ...(certificates !== undefined && { tls: certificates }),
  }
  const common = {
    ...{ name, at: field.at },
    hostname: typeof host === 'string' && host !== '*' && host !== '' ? host.toLowerCase() : null,
    isTls: isHttps,
    isModern: ['minTLSVersion', 'minTlsVersion'].some((each) => field.get('tls')?.get(each)?.text === 'TLS_V1_3'),
  }
  if (protocol === 'TLS' || protocol === 'TCP') {
    const routes = readTcpRoutes(field, scope, protocol === 'TLS')
    return { ...common, otherwise: 404, isTls: true, policies: {}, routes: [], printed: { ...head, routes } }
  }
  if (field.get('tcpRoutes') !== null) lost(field.get('tcpRoutes') ?? field, 'expected the protocol TCP or TLS')
  const own = readPolicies(field.get('policies'), LISTENER_POLICIES, scope, 'traffic')
  const early: Effects = {
    policies: inherit(own.policies, inherited.early.policies),
    status: worst([own.status, inherited.early.status]),
  }
  const status = worst([early.status, inherited.late.status])
  const routes = routesOf(field.get('routes'), scope, (key) => {
    const own = inherited.ofRoute(key)
    return { policies: inherit(own.policies, inherited.late.policies), status: worst([own.status, status]) }
  })
  if (routes === null) {
    const printed = { ...head, routes: [CLOSED] }
    return { ...common, otherwise: 403, policies: {}, routes: [], printed }
  }
  const policies = early.status === null ? early.policies : {}
  return {
    ...{ ...common, otherwise: 404, policies, routes },
    printed: {
      ...head,
      ...(Object.keys(policies).length > 0 && { policies: { phase: 'PreRouting', ...policies } }),
      routes: printRoutes(routes),
    },
  }
}

/** Reads the routes of a listener; returns null when the match of one route cannot be expressed. */
function routesOf(list: Field | null, scope: Scope, inherited: (key: string) => Effects): readonly ReadRoute[] | null {
  const read = (list?.items ?? []).map((each, index) => readRoute(each, index, scope, inherited))
  if (read.includes(undefined)) return null
  const routes = read as ReadRoute[]
  const last = routes.filter((route, index) => {
    const isReplaced = routes.slice(index + 1).some((each) => keyOf(each) === keyOf(route))
    if (isReplaced)
      route.field.changed('the route is left out, because a later route of the listener has the same name')
    return !isReplaced
  })
  return inOrderOfKeys(last)
}

/** The only route of a listener when the match of one of its routes cannot be expressed: all requests get 403. */
const CLOSED = { name: 'not-imported', policies: { directResponse: { status: 403, body: 'not imported\n' } } }

function printRoutes(routes: readonly ReadRoute[]): object[] {
  const names = new Set<string>()
  return routes.map((route) => {
    const base = objectName(route.name)
    let name = base
    for (let number = 2; names.has(name); number++) name = `${base}-${number}`
    names.add(name)
    return printRoute(route, name)
  })
}
