import type { Backend } from '@portico/gateway/ir'
import { printFieldProblem } from '../../resources/fields.ts'
import { isAddress, readService, type ServicePort } from '../../resources/service.ts'
import { listAt } from '../../resources/json.ts'
import { keyOf, type Resource } from '../../resources/resource.ts'
import type { Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { chooseEndpoints, formatEndpoint, meshAddress, type ServiceEndpoint, versionOf } from './service.ts'

/** The domain of Services that several clusters export, as the Multi-Cluster Services API fixes it. */
const CLUSTER_SET_DOMAIN = 'clusterset.local'

/**
 * The inverse of the key of a port of a ServiceImport, `backend/import/<namespace>/<name>/<port>`; null for other
 * backends. Ports of UDP end in `:udp`.
 */
export function placeOfImport(key: string): string | null {
  const parts = key.split('/')
  return parts.length === 5 && key.startsWith('backend/import/') ? parts.slice(2).join('/') : null
}

interface ReferredImport {
  backend: Backend
  port: ServicePort
  /** Parts that are not served; routes to the ServiceImport report them. */
  ignored: string[]
}

/** A port of a ServiceImport as a backend, by `namespace/name/port`, with `:udp` for UDP. */
export const importBackend: Query<ReferredImport | Unusable> = {
  name: 'importBackend',
  compute(context, place) {
    const [namespace = '', name = '', at = ''] = place.split('/')
    const [digits = '', suffix = 'tcp'] = at.split(':')
    const protocol = suffix === 'udp' ? 'UDP' : 'TCP'
    const what = `ServiceImport ${namespace}/${name}`
    const resource = context.get('ServiceImport', `${namespace}/${name}`)
    if (resource === undefined) return { reason: 'BackendNotFound', message: `${what} not found` }
    const { ports, isAffine, problems } = readService(resource)
    const port = ports.find((each) => each.port === Number(digits) && each.protocol === protocol)
    if (port === undefined) return { reason: 'BackendNotFound', message: `${what} has no ${protocol} port ${digits}` }
    const host = `${name}.${namespace}.svc.${CLUSTER_SET_DOMAIN}`
    const slices = context.keys('EndpointSlice', { by: 'import', value: keyOf(resource) })
    const isByName = context.settings.withoutSlices === 'dns' && slices.length + ipsOf(resource).length === 0
    const target = isByName
      ? { kind: 'static' as const, host, port: port.port }
      : {
          kind: 'service' as const,
          host,
          port: port.port,
          version: versionOf(port),
          ...(isAffine && { affinity: 'ClientIP' as const }),
        }
    const ignored = problems
      .filter(({ code }) => code === 'unknown')
      .map((problem) => `${what}: ${printFieldProblem(problem)}`)
    // The name differs from that of a Service with the same name, so that metrics tell both apart.
    const backend = { key: `backend/import/${place}`, name: `import/${namespace}/${name}:${port.port}`, target }
    return { backend, port, ignored }
  },
}

/** The addresses of a port of a ServiceImport, by `namespace/name/port`: `10.0.0.7:8080`. */
export const importEndpoints: Query<string[]> = {
  name: 'importEndpoints',
  compute: (context, place) => [...new Set(context.read(chosenImports, place).map(({ at }) => at))].toSorted(),
}

/** The same for a Gateway in a mesh, by `<trust domain> <namespace>/<name>/<port>`, as `meshEndpoints` marks them. */
export const meshImportEndpoints: Query<string[]> = {
  name: 'meshImportEndpoints',
  compute(context, arg) {
    const [trustDomain = '', place = ''] = arg.split(' ')
    const endpoints = context.read(chosenImports, place)
    return [...new Set(endpoints.flatMap((each) => meshAddress(context, each, trustDomain)))].toSorted()
  },
}

/** An implementation without EndpointSlices has only the addresses in `spec.ips`. */
const chosenImports: Query<ServiceEndpoint[]> = {
  name: 'chosenImports',
  compute(context, place) {
    const found = context.read(importBackend, place)
    if ('reason' in found) return []
    const service = place.slice(0, place.lastIndexOf('/'))
    const slices = context.list('EndpointSlice', { by: 'import', value: service })
    if (slices.length > 0) return chooseEndpoints(slices, found.port)
    const resource = context.get('ServiceImport', service)
    const ips = resource === undefined ? [] : ipsOf(resource)
    return ips.map((address) => ({ at: formatEndpoint(address, found.port.port), pod: null }))
  },
}

function ipsOf({ spec }: Resource): string[] {
  return listAt(spec, 'ips').filter((ip): ip is string => typeof ip === 'string' && isAddress(ip))
}
