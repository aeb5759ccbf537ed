import type { Backend } from '@portico/gateway/ir'
import type { BackendPolicies } from '@portico/gateway/schema'
import { isIP } from 'node:net'
import { printFieldProblem } from '../../resources/fields.ts'
import { groupByKind } from '../../resources/kinds.ts'
import type { Context, Query } from '../context.ts'
import { certificateOf, type Referrer, type Unusable } from '../materials.ts'
import { type BackendTls, trustedAuthorities, validatedTls } from '../tls-validation.ts'
import { validateBackend } from '../validate-config.ts'
import { podEndpoints } from './pods.ts'
import { isListedHost, meshAddress, type ServiceEndpoint } from './service.ts'
import { readXBackend, type XBackendSpec } from './x-backend-spec.ts'

/** The key of an XBackend in configs, `backend/xbackend/<namespace>/<name>`. */
function xBackendKey(place: string): string {
  return `backend/xbackend/${place}`
}

/** The inverse of `xBackendKey`; null for other backends. */
export function placeOfXBackend(key: string): string | null {
  const parts = key.split('/')
  return parts.length === 4 && key.startsWith('backend/xbackend/') ? `${parts[2]}/${parts[3]}` : null
}

/** The translation of an XBackend. */
export interface XBackendPlan {
  backend: Backend
  policies: BackendPolicies
  /** The HTTP version of its protocol; null when the client's is used. */
  version: 'HTTP1' | 'HTTP2' | null
  /** Whether it has no HTTP, so that only routes for connections may use it. */
  isRaw: boolean
  /** A broken reference among CA certificates, while others can be used. */
  unresolved: Unusable | null
  /** Parts that are not served, and risks; its status and routes to it report them. */
  notes: string[]
}

/** Translates an XBackend, by `namespace/name`. Any problem makes the whole backend unusable. */
export const xBackend: Query<XBackendPlan | Unusable> = {
  name: 'xBackend',
  compute(context, place) {
    const resource = context.get('XBackend', place)
    if (resource === undefined) return { reason: 'BackendNotFound', message: `XBackend ${place} not found` }
    const spec = readXBackend(resource)
    const wrong = spec.problems.find(({ code }) => code === 'wrong')
    if (wrong !== undefined) return { reason: 'UnsupportedValue', message: printFieldProblem(wrong) }
    if (spec.protocol === 'MCP') {
      return {
        reason: 'UnsupportedProtocol',
        message: 'spec.protocol MCP is not supported: use a GwBackend with `mcp`',
      }
    }
    const forbidden = spec.host === null ? null : hostProblem(context, spec.host)
    if (forbidden !== null) return { reason: 'UnsupportedValue', message: forbidden }
    const [namespace = '', name = ''] = place.split('/')
    const secured = tlsOf(context, { group: groupByKind.XBackend, kind: 'XBackend', namespace }, spec)
    if ('reason' in secured) return secured
    const { sessionPersistence, host, port } = spec
    const checked = validateBackend({ ...(sessionPersistence !== undefined && { sessionPersistence }) })
    if ('reason' in checked) return checked
    const version = versionOf(spec)
    const policies = {
      ...checked.backend,
      ...(secured.tls !== null && { tls: secured.tls }),
      ...(host !== null && version !== null && { http: { version } }),
    }
    const target: Backend['target'] =
      host === null
        ? { kind: 'service', host: `${name}.${namespace}.xbackend.${context.settings.clusterDomain}`, port, version }
        : { kind: 'static', host, port }
    // The name differs from that of a GwBackend with the same name, so that metrics tell both apart.
    const backend = { key: xBackendKey(place), name: `xbackend/${place}:${port}`, target }
    const isRaw = spec.protocol === 'TCP'
    return { backend, policies, version, isRaw, unresolved: secured.unresolved, notes: notesOn(spec) }
  },
}

/**
 * Why a host is not allowed; null when it is. Whoever may write an XBackend would choose the hosts that data planes
 * connect to, so the operator lists them, as for Services of type ExternalName.
 */
function hostProblem({ settings: { clusterDomain, externalNames } }: Context, host: string): string | null {
  const field = `spec.externalHostname.hostname ${host}`
  const isLiteral = isIP(host) !== 0 || isIP(host.replace(/^\[(.*)\]$/, '$1')) !== 0 || !/[a-z]/.test(host)
  if (isLiteral || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(host)) {
    return `${field} is not a hostname`
  }
  const domains = ['cluster.local', clusterDomain.toLowerCase()]
  if (domains.some((domain) => `.${host}`.endsWith(`.${domain}`))) return `${field} is a host of the cluster`
  if (isListedHost(host, externalNames)) return null
  return `${field} is not allowed by the controller: list it in \`externalNames\`, or use a GwBackend with \`static.host\``
}

function tlsOf(
  context: Context,
  from: Referrer,
  { tls }: XBackendSpec,
): { tls: BackendTls | null; unresolved: Unusable | null } | Unusable {
  if (tls === null) return { tls: null, unresolved: null }
  const made = validatedTls(context, from, tls.validation)
  if ('reason' in made) return made
  const authorities = trustedAuthorities(context, from, tls.validation)
  const unresolved = 'reason' in authorities ? authorities : authorities.problem
  if (tls.clientCertificate === null) return { tls: made.tls, unresolved }
  const certificate = certificateOf(context, from, tls.clientCertificate)
  if (!('reason' in certificate)) return { tls: { ...made.tls, mtlsCertificateRef: certificate }, unresolved }
  return certificate.reason === 'InvalidCertificateRef'
    ? { ...certificate, reason: 'InvalidClientCertificateRef' }
    : certificate
}

function versionOf({ protocol }: XBackendSpec): 'HTTP1' | 'HTTP2' | null {
  if (protocol === 'HTTP11' || protocol === 'WSS') return 'HTTP1'
  return protocol === 'HTTP2' || protocol === 'H2C' || protocol === 'GRPC' ? 'HTTP2' : null
}

function notesOn({ host, tls, problems }: XBackendSpec): string[] {
  const notes = problems.map(printFieldProblem)
  if (host !== null && tls === null) notes.push(`connections to ${host} are not encrypted: set spec.tls`)
  return notes
}

/** The addresses of the Pods of an XBackend, by `namespace/name`. */
export const xBackendEndpoints: Query<string[]> = {
  name: 'xBackendEndpoints',
  compute: (context, place) => context.read(selectedEndpoints, place).map(({ at }) => at),
}

/** The same for a Gateway in a mesh, by `<trust domain> <namespace>/<name>`, as `meshEndpoints` marks them. */
export const meshXBackendEndpoints: Query<string[]> = {
  name: 'meshXBackendEndpoints',
  compute(context, arg) {
    const [trustDomain = '', place = ''] = arg.split(' ')
    return context.read(selectedEndpoints, place).flatMap((endpoint) => meshAddress(context, endpoint, trustDomain))
  },
}

const selectedEndpoints: Query<ServiceEndpoint[]> = {
  name: 'selectedEndpoints',
  compute(context, place) {
    const resource = context.get('XBackend', place)
    if (resource === undefined) return []
    const { labels, port } = readXBackend(resource)
    return podEndpoints(context, resource.metadata.namespace ?? '', { labels, ports: [port] })
  },
}
