import type { Image } from './bed/kubelet/node-settings.ts'

/** Objects that cluster tests share: a Gateway, routes, and Services whose Pods respond with their name. */

const GATEWAY_API = 'gateway.networking.k8s.io'

/** A server that responds with the name of its Pod. After SIGTERM it serves for a moment longer, as replaced Pods should. */
const ECHO = `const server = require('http').createServer((_, response) => response.end(JSON.stringify({ pod: process.env.POD_NAME })))
server.listen(3000)
process.on('SIGTERM', () => setTimeout(() => process.exit(), 3000))`

export const ECHO_IMAGE: Image = { command: [process.execPath, '-e', ECHO] }

interface GatewayOptions {
  namespace?: string
  /** GwParameters of the same namespace. */
  parameters?: string
  listeners?: readonly object[]
}

export function gateway(name = 'web', options: GatewayOptions = {}): object {
  const { namespace = 'shop', parameters, listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }] } = options
  const parametersRef = { group: 'portico.dev', kind: 'GwParameters', name: parameters }
  return {
    apiVersion: `${GATEWAY_API}/v1`,
    kind: 'Gateway',
    metadata: { name, namespace },
    spec: {
      gatewayClassName: 'portico',
      listeners,
      ...(parameters !== undefined && { infrastructure: { parametersRef } }),
    },
  }
}

interface RouteOptions {
  namespace?: string
  gateway?: string
  /** Namespace of the Service. */
  in?: string
  /** Fields of the rule besides matches and backends. */
  rule?: object
}

/** A path prefix to a Service. */
export function route(name: string, path: string, service = 'cart', options: RouteOptions = {}) {
  const { namespace = 'shop', gateway: parent = 'web', in: at, rule = {} } = options
  const backend = { name: service, port: 8080, ...(at !== undefined && { namespace: at }) }
  const matches = [{ path: { type: 'PathPrefix', value: path } }]
  return {
    apiVersion: `${GATEWAY_API}/v1`,
    kind: 'HTTPRoute',
    metadata: { name, namespace },
    spec: { parentRefs: [{ name: parent }], rules: [{ matches, backendRefs: [backend], ...rule }] },
  }
}

interface PodsOptions {
  namespace?: string
  replicas?: number
  image?: string
  /** Fields of the Service. */
  service?: object
  port?: object
  labels?: Readonly<Record<string, string>>
}

/** A Deployment and its Service. */
export function pods(name: string, options: PodsOptions = {}): object[] {
  const { namespace = 'shop', replicas = 2, image = 'echo', service = {}, port = {}, labels = {} } = options
  const container = {
    name: 'main',
    image,
    env: [{ name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    readinessProbe: { tcpSocket: { port: 3000 }, periodSeconds: 1 },
  }
  const own = { app: name }
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name, namespace },
      spec: {
        replicas,
        selector: { matchLabels: own },
        template: { metadata: { labels: own }, spec: { containers: [container] } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels },
      spec: { selector: own, ports: [{ port: 8080, targetPort: 3000, ...port }], ...service },
    },
  ]
}

/** Lets HTTPRoutes of a namespace lead to Services of another. */
export function grant(from: string, to: string, version = 'v1'): object {
  return {
    apiVersion: `${GATEWAY_API}/${version}`,
    kind: 'ReferenceGrant',
    metadata: { name: `from-${from}`, namespace: to },
    spec: { from: [{ group: GATEWAY_API, kind: 'HTTPRoute', namespace: from }], to: [{ group: '', kind: 'Service' }] },
  }
}
