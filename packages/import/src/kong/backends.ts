import { withoutAbsent } from '../core/config-yaml.ts'
import type { Field } from '../core/yaml-field.ts'
import { hostPortOf } from '../http/addresses.ts'
import { backendTimeouts } from '../http/timeouts.ts'
import type { Entity } from './entities.ts'
import { filledText, templateOf } from './placeholders.ts'
import { readTargets, type Upstreams } from './upstreams.ts'
import type { Service } from './model.ts'

interface ServiceBackend {
  /** The address as the imported config has it: `host:port`, possibly with environment variables. */
  readonly host: unknown
  /** The address as the generated tests see it: `host:port`, with test values of variables. */
  readonly address: string
  readonly weight: number
  readonly policies: Readonly<Record<string, unknown>>
}

/** The backends of a Kong service, and the policies that its routes need. */
export interface ServiceTarget {
  readonly backends: readonly ServiceBackend[]
  readonly policies: Readonly<Record<string, unknown>>
  readonly backendPolicies: Readonly<Record<string, unknown>>
  /** The path of the service, which Kong puts before the path of requests; empty when the service has no path. */
  readonly path: string
}

interface Address {
  readonly protocol: string
  readonly host: string
  readonly port: number
  readonly path: string
}

/** Reads the target of a service; returns the reason as a string when the service cannot be imported. */
export function readTarget({ entity }: Service, upstreams: Upstreams): ServiceTarget | string {
  const address = readAddress(entity)
  if (typeof address === 'string') return address
  const { protocol, host, port, path } = address
  if (!['http', 'https', 'grpc', 'grpcs', 'ws', 'wss'].includes(protocol)) {
    return `services of the protocol ${protocol.slice(0, 20)} are not carried: docs/tls.md, docs/udp.md`
  }
  const isTls = ['https', 'grpcs', 'wss'].includes(protocol)
  const tls = isTls ? tlsPolicy(entity) : undefined
  const own = withoutAbsent({ tls, http: protocol.startsWith('grpc') ? { version: 'HTTP2' } : undefined })
  const upstream = upstreams.get(host)
  const found =
    upstream === undefined
      ? backendOf(host, port, { weight: 1, isTls, policies: own, hostHeader: null })
      : readTargets(upstream).map((target) =>
          backendOf(target.host, target.port, {
            ...{ weight: target.weight, isTls, policies: own },
            hostHeader: upstream.hostHeader,
          }),
        )
  const backends = [found].flat().filter((each) => each !== null)
  if (backends.length === 0) {
    return upstream === undefined
      ? 'the host of the service is not a valid address'
      : "no target of the service's upstream has a valid address"
  }
  return { backends, path, ...servicePolicies(entity, upstream?.policies ?? {}) }
}

function readAddress(entity: Entity): Address | string {
  const url = entity.get('url')
  const [protocolField, hostField, portField, pathField] = ['protocol', 'host', 'port', 'path'].map((name) =>
    entity.get(name),
  )
  for (const each of [protocolField, hostField, portField, pathField]) each?.carried()
  if (url === null) {
    return {
      protocol: protocolField?.text ?? 'http',
      host: hostField?.text ?? '',
      port: portField?.number ?? 80,
      path: pathField?.text ?? '',
    }
  }
  const [, scheme = '', authority = '', path = ''] = /^(\w+):\/\/([^/?#]+)(\/[^?#]*)?$/.exec(url.text ?? '') ?? []
  const [, host = '', port = ''] = /^(.*?)(?::(\d{1,5}))?$/.exec(authority) ?? []
  if (host === '') {
    url.notCarried('the value is not a URL with a host')
    return 'the URL of the service has no host'
  }
  url.carried()
  for (const each of [hostField, portField]) each?.changed('the service has a URL, which takes precedence')
  const protocol = protocolField?.text ?? scheme
  return {
    ...{ protocol, host, path: pathField?.text ?? path },
    port: port === '' ? (['https', 'grpcs', 'wss'].includes(scheme) ? 443 : 80) : Number(port),
  }
}

interface BackendFacts {
  readonly weight: number
  readonly isTls: boolean
  readonly policies: Readonly<Record<string, unknown>>
  readonly hostHeader: string | null
}

function backendOf(
  host: string,
  port: number,
  { weight, isTls, policies, hostHeader }: BackendFacts,
): ServiceBackend | null {
  const address = filledText(`${host}:${port}`, (name) => `${name.toLowerCase().replaceAll('_', '-')}.test`)
  if (hostPortOf(address, null) === null) return null
  const isDefaultPort = port === (isTls ? 443 : 80)
  const isAddress = /^[\d.]+$|^\[/.test(host)
  const authority = hostHeader ?? (isAddress ? (isDefaultPort ? host : `${host}:${port}`) : null)
  return {
    ...{ host: templateOf(`${host}:${port}`), address, weight },
    policies: withoutAbsent({
      ...policies,
      urlRewrite: authority === null ? undefined : { authority: { full: authority } },
    }),
  }
}

function tlsPolicy(entity: Entity): object {
  const [verify, roots, client, depth, names] = [
    'tls_verify',
    'ca_certificates',
    'client_certificate',
    'tls_verify_depth',
    'tls_sans',
  ].map((name) => entity.get(name))
  depth?.notCarried('the gateway does not limit the length of certificate chains')
  client?.notCarried('configure mtlsCertificateRef: docs/policies/backend-tls.md')
  names?.notCarried('configure verifySubjectAltNames: docs/policies/backend-tls.md')
  const isSkipped = verify?.text?.toLowerCase() === 'false'
  verify?.carried()
  if (isSkipped) {
    roots?.carried("the field has no effect, because the service's certificate is not verified")
    return { insecureSkipVerify: 'All' }
  }
  if (verify === null) {
    const place = entity.get('url') ?? entity.get('protocol')
    place?.changed('the gateway verifies the certificate of the service')
  }
  if (roots == null || roots.items.length === 0) return {}
  const file = `certificates/${(entity.get('name')?.text ?? 'service').replaceAll(/[^\w.-]/g, '-')}-ca.pem`
  roots.changed(`write the texts of these certificates to the file ${file}`)
  return { caCertificateRefs: [file] }
}

/** Reads the timeouts and retries of a service, which become policies of its routes. */
function servicePolicies(
  entity: Entity,
  upstream: Readonly<Record<string, unknown>>,
): Pick<ServiceTarget, 'policies' | 'backendPolicies'> {
  const [connect, read, retries] = ['connect_timeout', 'read_timeout', 'retries'].map((name) => entity.get(name))
  connect?.carried()
  read?.changed('the time limit applies until the response begins')
  entity.get('write_timeout')?.notCarried('the gateway has no separate time limit for writing')
  retries?.changed('only requests with idempotent methods are retried after a lost connection')
  const attempts = retries?.number ?? 0
  return {
    policies: withoutAbsent({
      retry: attempts >= 1 ? { attempts: Math.min(Math.round(attempts), 255) } : undefined,
      ...upstream,
    }),
    backendPolicies: backendTimeouts(secondsOf(connect, 100), secondsOf(read, 1)),
  }
}

/** Returns the seconds of a field with milliseconds, at least `least` milliseconds; null when the field has no positive number. */
function secondsOf(field: Field | null | undefined, least: number): number | null {
  const found = field?.number ?? 0
  return found < 1 ? null : Math.max(Math.round(found), least) / 1000
}
