import type { ApiKind } from '../../../packages/controller/src/kube/kinds.ts'
import type { ObjectBody } from '../../../packages/controller/src/kube/objects.ts'

export const NAMESPACE = 'shop'
export const GATEWAY = 'web'
/** Routes share these, so that a hostname has several and a Service too. */
export const HOSTS = 500
export const SERVICES = 100
/** The Deployments behind Services: Services with even and odd numbers have different ones. */
export const COLOURS = ['blue', 'green'] as const
export const ECHO_PORT = 3000

const GATEWAY_GROUP = 'gateway.networking.k8s.io'
export const ROUTES: ApiKind = {
  group: GATEWAY_GROUP,
  version: 'v1',
  kind: 'HTTPRoute',
  plural: 'httproutes',
  namespaced: true,
}
export const SLICES: ApiKind = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
}

export function gateway(className: string): object {
  return {
    apiVersion: `${GATEWAY_GROUP}/v1`,
    kind: 'Gateway',
    metadata: { name: GATEWAY, namespace: NAMESPACE },
    spec: { gatewayClassName: className, listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  }
}

export function routeName(index: number): string {
  return `route-${index}`
}

export function hostOf(index: number): string {
  return `h${index % HOSTS}.example.com`
}

export function pathOfRoute(index: number): string {
  return `/r${index}`
}

export function serviceOf(index: number): number {
  return index % SERVICES
}

export function route(index: number): ObjectBody {
  const matches = [{ path: { type: 'PathPrefix', value: pathOfRoute(index) } }]
  return {
    metadata: { name: routeName(index), namespace: NAMESPACE },
    spec: {
      parentRefs: [{ name: GATEWAY }],
      hostnames: [hostOf(index)],
      rules: [{ matches, backendRefs: [{ name: serviceName(serviceOf(index)), port: 80 }] }],
    },
  }
}

/** Leads to Pods that a Deployment replaces. */
export const ROLLED = { host: 'rolled.example.com', path: '/' }

export function rolledRoute(): object {
  return {
    apiVersion: `${GATEWAY_GROUP}/v1`,
    kind: 'HTTPRoute',
    metadata: { name: 'rolled', namespace: NAMESPACE },
    spec: {
      parentRefs: [{ name: GATEWAY }],
      hostnames: [ROLLED.host],
      rules: [{ backendRefs: [{ name: COLOURS[0], port: 80 }] }],
    },
  }
}

export function serviceName(index: number): string {
  return `service-${index}`
}

/** Whoever writes its slices says where it is. */
export function service(index: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName(index), namespace: NAMESPACE },
    spec: { ports: [{ name: 'http', port: 80, targetPort: ECHO_PORT }] },
  }
}

export function slice(index: number, addresses: readonly string[]): object {
  const name = serviceName(index)
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: NAMESPACE, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: ECHO_PORT, protocol: 'TCP' }],
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
  }
}

/** Two Pods that say their colour, behind a Service of their own, for rollouts. */
export function echo(colour: string): object[] {
  const labels = { app: colour }
  const container = {
    name: 'echo',
    image: 'echo',
    env: [{ name: 'COLOUR', value: colour }],
    readinessProbe: { tcpSocket: { port: ECHO_PORT }, periodSeconds: 1 },
  }
  const selected = { selector: labels, ports: [{ port: 80, targetPort: ECHO_PORT }] }
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: colour, namespace: NAMESPACE },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: colour, namespace: NAMESPACE }, spec: selected },
  ]
}

/** The program of the image `echo`. After SIGTERM it serves for a moment longer, as replaced Pods should. */
export const ECHO_PROGRAM = `const server = require('http').createServer((_, response) => response.end(process.env.COLOUR))
server.listen(${ECHO_PORT})
process.on('SIGTERM', () => setTimeout(() => process.exit(), 3000))`
