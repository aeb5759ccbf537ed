import type { Backend } from '@portico/gateway/ir'
import { formatSpiffe } from '@portico/gateway/spiffe'
import { formatMeshAddress } from '@portico/http/text'
import { printFieldProblem } from '../../resources/fields.ts'
import { readEndpointSlice, readService, type ServicePort } from '../../resources/service.ts'
import { readPod } from '../../resources/pod.ts'
import { keyOf, type Resource } from '../../resources/resource.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'

/**
 * The key of a Service port, `backend/service/<namespace>/<name>/<port>`, which policies may name. Ports of UDP end in
 * `:udp`, because a Service may have the same number for both; ports that are called as endpoint pickers end in `:picker`.
 */
export function serviceKey(place: string): string {
  return `backend/service/${place}`
}

/** The inverse of `serviceKey`; null for other backends. A GwBackend in the namespace `service` has three parts. */
export function placeOfService(key: string): string | null {
  const parts = key.split('/')
  return parts.length === 5 && key.startsWith('backend/service/') ? parts.slice(2).join('/') : null
}

interface ReferredService {
  backend: Backend
  port: ServicePort
  /** Parts that are not served; routes to the Service report them. */
  ignored: string[]
}

/** A Service port as a backend, by `namespace/name/port`, with the suffix of `serviceKey`. */
export const serviceBackend: Query<ReferredService | Unusable> = {
  name: 'serviceBackend',
  compute(context, place) {
    const [namespace = '', name = '', at = ''] = place.split('/')
    const [digits = '', suffix = 'tcp'] = at.split(':')
    const protocol = suffix === 'udp' ? 'UDP' : 'TCP'
    const notFound = (message: string): Unusable => ({ reason: 'BackendNotFound', message })
    const resource = context.get('Service', `${namespace}/${name}`)
    if (resource === undefined) return notFound(`Service ${namespace}/${name} not found`)
    const { type, externalName, ports, isAffine, problems } = readService(resource)
    const isExternal = type === 'ExternalName'
    if (isExternal && !isListedHost(externalName, context.settings.externalNames)) {
      return {
        reason: 'UnsupportedValue',
        message: `Service ${namespace}/${name} is an ExternalName, and the controller does not allow its host ${externalName}: list it in \`externalNames\`, or use a GwBackend with \`static.host\``,
      }
    }
    // A Service of type ExternalName need not list ports.
    const anyPort = { port: Number(digits), name: '', appProtocol: undefined, protocol } as const
    const known = isExternal && ports.length === 0 ? [anyPort] : ports
    const port = known.find((each) => each.port === Number(digits) && each.protocol === protocol)
    if (port === undefined) return notFound(`Service ${namespace}/${name} has no ${protocol} port ${digits}`)
    const host = isExternal ? externalName : `${name}.${namespace}.svc.${context.settings.clusterDomain}`
    const byName = { kind: 'static' as const, host, port: port.port }
    const { withoutSlices } = context.settings
    const isByName =
      isExternal ||
      (withoutSlices === 'dns' && context.keys('EndpointSlice', { by: 'service', value: keyOf(resource) }).length === 0)
    const target = isByName
      ? byName
      : {
          kind: 'service' as const,
          host,
          port: port.port,
          version: versionOf(port),
          ...(isAffine && { affinity: 'ClientIP' as const }),
        }
    const ignored = problems
      .filter(({ code }) => code === 'unknown')
      .map((problem) => `Service ${namespace}/${name}: ${printFieldProblem(problem)}`)
    return { backend: { key: serviceKey(place), name: `${namespace}/${name}:${port.port}`, target }, port, ignored }
  },
}

/** Whether one of the patterns is the host; `*.example.com` stands for every name below `example.com`. */
export function isListedHost(host: string, patterns: readonly string[]): boolean {
  const matches = (pattern: string): boolean =>
    pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1 : host === pattern
  return host !== '' && patterns.some((pattern) => matches(pattern.toLowerCase()))
}

/** The HTTP version that `appProtocol` sets; null uses the client's. */
export function versionOf({ appProtocol }: ServicePort): 'HTTP1' | 'HTTP2' | null {
  return versionByProtocol[appProtocol ?? ''] ?? null
}

const versionByProtocol: Readonly<Record<string, 'HTTP1' | 'HTTP2'>> = {
  'kubernetes.io/h2c': 'HTTP2',
  grpc: 'HTTP2',
  http2: 'HTTP2',
  'kubernetes.io/ws': 'HTTP1',
  'kubernetes.io/wss': 'HTTP1',
}

/** The addresses of a Service port, by `namespace/name/port`: `10.0.0.7:8080`. */
export const serviceEndpoints: Query<string[]> = {
  name: 'serviceEndpoints',
  compute(context, place) {
    const endpoints = context.read(chosenEndpoints, place)
    return [...new Set(endpoints.map(({ at }) => at))].toSorted()
  },
}

/**
 * The addresses of a Service port for a Gateway in a mesh, by `<trust domain> <namespace>/<name>/<port>`. Pods of the mesh
 * are marked, with their identity. An endpoint whose Pod is not known is left out, because it could be in the mesh.
 */
export const meshEndpoints: Query<string[]> = {
  name: 'meshEndpoints',
  compute(context, arg) {
    const [trustDomain = '', place = ''] = arg.split(' ')
    const endpoints = context.read(chosenEndpoints, place)
    return [...new Set(endpoints.flatMap((endpoint) => meshAddress(context, endpoint, trustDomain)))].toSorted()
  },
}

/** Returns the address of an endpoint for a Gateway in a mesh; none while its Pod is not known. */
export function meshAddress(context: Context, { at, pod }: ServiceEndpoint, trustDomain: string): string[] {
  if (pod === null) return [at]
  const resource = context.get('Pod', pod)
  if (resource === undefined) return []
  const { isInMesh, serviceAccount } = readPod(resource)
  if (!isInMesh) return [at]
  const namespace = resource.metadata.namespace ?? ''
  return [formatMeshAddress(at, formatSpiffe({ trustDomain, namespace, serviceAccount }))]
}

export interface ServiceEndpoint {
  /** `10.0.0.7:8080` */
  at: string
  /** `namespace/name` of the Pod; null for endpoints without a Pod. */
  pod: string | null
}

/** The endpoints of a Service port that get requests, by `namespace/name/port`. */
const chosenEndpoints: Query<ServiceEndpoint[]> = {
  name: 'chosenEndpoints',
  compute(context, place) {
    const found = context.read(serviceBackend, place)
    if ('reason' in found) return []
    const service = place.slice(0, place.lastIndexOf('/'))
    return chooseEndpoints(context.list('EndpointSlice', { by: 'service', value: service }), found.port)
  },
}

/** The endpoints of a port that get requests. */
export function chooseEndpoints(slices: readonly Resource[], wanted: ServicePort): ServiceEndpoint[] {
  const endpoints = slices.flatMap((resource) => {
    const slice = readEndpointSlice(resource)
    const ports = slice.ports.filter(({ name, protocol }) => name === wanted.name && protocol === wanted.protocol)
    return slice.endpoints.flatMap(({ addresses, isReady, isServing, pod: name }) => {
      const pod = name === undefined ? null : `${resource.metadata.namespace ?? ''}/${name}`
      const at = ports.flatMap(({ port }) => addresses.map((address) => formatEndpoint(address, port)))
      return at.map((each) => ({ at: each, pod, isReady, isServing }))
    })
  })
  const ready = endpoints.filter(({ isReady }) => isReady)
  // When no endpoint is ready, terminating ones that still serve are used.
  const chosen = ready.length > 0 ? ready : endpoints.filter(({ isServing }) => isServing)
  return chosen.map(({ at, pod }) => ({ at, pod }))
}

export function formatEndpoint(address: string, port: number): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`
}
