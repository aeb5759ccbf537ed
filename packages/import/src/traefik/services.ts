import { withoutAbsent } from '../core/config-yaml.ts'
import type { Field } from '../core/yaml-field.ts'
import { hostPortOf } from '../http/addresses.ts'

/** The backends of a Traefik service, and the policies of routes to the service. */
export interface Service {
  readonly backends: readonly { readonly host: string; readonly weight: number; readonly policies: object | null }[]
  readonly policies: Readonly<Record<string, unknown>>
}

export type Services = (name: string) => Service | string

/** The services of all files, by name. */
export function readServices(roots: readonly Field[]): Services {
  const sections = roots.flatMap((root) => root.get('http')?.get('services')?.members ?? [])
  const transports = new Map(roots.flatMap((root) => root.get('http')?.get('serversTransports')?.members ?? []))
  const fields = new Map(sections)
  const known = new Map<string, Service | string>()
  const read = (text: string, depth: number): Service | string => {
    const [name = '', provider] = text.split('@')
    if (provider === 'internal') return `the service ${text.slice(0, 60)} is a part of Traefik`
    const field = fields.get(name)
    if (field === undefined) return `no file has the service ${text.slice(0, 60)}`
    if (depth > 4) return 'the service nests other services too deeply'
    const found = known.get(name) ?? readService(field, transports, (inner) => read(inner, depth + 1))
    known.set(name, found)
    return found
  }
  return (name) => read(name, 0)
}

function readService(field: Field, transports: ReadonlyMap<string, Field>, inner: Services): Service | string {
  const [balancer, weighted, mirroring, failover] = ['loadBalancer', 'weighted', 'mirroring', 'failover'].map((name) =>
    field.get(name),
  )
  if (balancer != null) return readBalancer(balancer, transports)
  if (weighted != null) return readWeighted(weighted, inner)
  if (mirroring != null) {
    const main = mirroring.get('service')
    main?.carried()
    mirroring.get('mirrors')?.notCarried('configure a requestMirror policy: docs/policies/traffic-request-mirror.md')
    return inner(main?.text ?? '')
  }
  if (failover != null) {
    const main = failover.get('service')
    main?.carried()
    failover.get('fallback')?.notCarried('the backup server gets no requests: the gateway does not order backends')
    return inner(main?.text ?? '')
  }
  return 'the service has no servers'
}

function readBalancer(field: Field, transports: ReadonlyMap<string, Field>): Service | string {
  const tls = transportPolicy(field, transports)
  const backends = (field.get('servers')?.items ?? []).flatMap((server) => {
    const url = server.get('url')
    const [, scheme = '', address = '', path = ''] = /^(https?|h2c):\/\/([^/?#]+)(\/.*)?$/.exec(url?.text ?? '') ?? []
    const host = hostPortOf(address, scheme === 'https' ? 443 : 80)
    if (host === null) {
      url?.notCarried('the address is not a URL with a host')
      return []
    }
    if (path !== '' && path !== '/') url?.changed('the importer ignores the path of the URL, as Traefik does')
    else if (scheme === 'https' && !('insecureSkipVerify' in tls))
      url?.changed('the gateway verifies the certificate of the server')
    else url?.carried()
    const weight = server.get('weight')
    weight?.carried()
    const policies = withoutAbsent({
      tls: scheme === 'https' ? tls : undefined,
      http: scheme === 'h2c' ? { version: 'HTTP2' } : undefined,
    })
    const share = weight?.number ?? 1
    return [
      {
        host,
        weight: Number.isInteger(share) && share >= 0 && share <= 1_000 ? share : 1,
        policies: Object.keys(policies).length === 0 ? null : policies,
      },
    ]
  })
  if (backends.length === 0) return 'no server of the service has a valid address'
  const pass = field.get('passHostHeader')
  pass?.carried()
  field
    .get('healthCheck')
    ?.notCarried('the gateway sends no health checks; a health policy learns from traffic: docs/backends.md')
  field.get('responseForwarding')?.notCarried('the gateway streams bodies instead of buffering them')
  const isHostKept = pass?.text !== 'false'
  return {
    backends,
    policies: {
      ...(isHostKept && { hostRewrite: { mode: 'None' } }),
      ...(!isHostKept && { hostRewrite: { mode: 'Auto' } }),
      ...stickyPolicy(field),
    },
  }
}

function stickyPolicy(field: Field): object {
  const cookie = field.get('sticky')?.get('cookie') ?? null
  if (cookie === null) return {}
  const name = cookie.get('name')?.text ?? ''
  cookie.changed("the gateway chooses the cookie's value")
  return { sessionPersistence: /^[\w-]+$/.test(name) ? { sessionName: name } : {} }
}

function transportPolicy(field: Field, transports: ReadonlyMap<string, Field>): Record<string, unknown> {
  const reference = field.get('serversTransport')
  const transport = transports.get(reference?.text?.split('@')[0] ?? '')
  if (reference === null) return {}
  if (transport === undefined) {
    reference.notCarried('no file has the serversTransport with this name')
    return {}
  }
  reference.carried()
  const [skip, name, roots] = [
    transport.get('insecureSkipVerify'),
    transport.get('serverName'),
    transport.get('rootCAs'),
  ]
  for (const each of [skip, name]) each?.carried()
  roots?.carried('copy the files to these paths, or change the paths')
  const files = (roots?.items ?? []).flatMap(({ text }) => text ?? [])
  return withoutAbsent({
    sni: name?.text ?? undefined,
    caCertificateRefs: files.length === 0 ? undefined : files,
    insecureSkipVerify: skip?.isTrue === true ? 'All' : undefined,
  })
}

function readWeighted(field: Field, inner: Services): Service | string {
  const parts: Service[] = []
  const weights: number[] = []
  for (const item of field.get('services')?.items ?? []) {
    const [name, weight] = [item.get('name'), item.get('weight')]
    const found = inner(name?.text ?? '')
    if (typeof found === 'string') {
      name?.notCarried(found)
      return found
    }
    name?.carried()
    weight?.carried()
    parts.push(found)
    weights.push(Math.min(Math.max(Math.round(weight?.number ?? 1), 0), 1_000))
  }
  const [first] = parts
  if (first === undefined) return 'the service has no services'
  // The weight of a service is divided equally among its servers.
  const backends = parts.flatMap(({ backends: list }, at) => {
    const sum = list.reduce((total, { weight }) => total + weight, 0)
    const scale = parts.reduce((total, each) => total * Math.max(each.backends.length, 1), 1)
    return list.map((each) => ({
      ...each,
      weight: sum === 0 ? 0 : Math.round(((weights[at] ?? 1) * scale * each.weight) / sum),
    }))
  })
  return {
    backends: backends.map((each) => ({ ...each, weight: Math.min(each.weight, 1_000_000) })),
    policies: { ...first.policies, ...stickyPolicy(field) },
  }
}
