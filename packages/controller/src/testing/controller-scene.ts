import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { loadResourceChecks } from '@portico/gateway/checks'
import type { Ir } from '@portico/gateway/ir'
import { createLogger, parseLogFilter } from '@portico/gateway/log'
import type { Resource } from '@portico/translate'
import { Controller, type Streams } from '../controller.ts'
import { listAt, textAt } from '@portico/translate/json'
import { apiByKind } from '../deploy/objects.ts'
import { Metrics } from '../metrics.ts'
import type { GatewayState } from '../status/gateway-status-tracker.ts'
import type { PolicyVerifierOptions } from '../verify/policy-verifier.ts'
import { PODS, watchedKinds } from '../watch/watched-kinds.ts'
import { type ObjectApi, useObjectApi } from './object-api.ts'

export const GATEWAY_API = 'gateway.networking.k8s.io/v1'
export const GATEWAY = `/apis/${GATEWAY_API}/namespaces/shop/gateways/web`
export const ROUTE = `/apis/${GATEWAY_API}/namespaces/shop/httproutes/cart`

/** A controller with an API server that has one Gateway with one route. */
export interface ControllerScene {
  api: ObjectApi
  controller: Controller
  metrics: Metrics
  published: Ir[]
  reached: Map<string, Readonly<Record<string, readonly string[]>>>
  order: string[]
  state: GatewayState
  start(): void
}

export async function useController(
  t: TestContext,
  {
    namespaces = null,
    testPolicy = () => assert.fail('no policy has tests'),
  }: { namespaces?: readonly string[] | null; testPolicy?: PolicyVerifierOptions['test'] } = {},
): Promise<ControllerScene> {
  const plurals = [...watchedKinds, PODS, ...Object.values(apiByKind)].map(
    ({ kind, plural }) => [kind, plural] as const,
  )
  const api = await useObjectApi(t, Object.fromEntries(plurals))
  for (const resource of [gatewayClass, gateway(), route('/'), service, slice('10.0.0.7')]) api.put(resource)
  const filter = parseLogFilter('off')
  assert.ok(filter.ok)
  const logger = createLogger({ filter: filter.value, format: 'text', write: () => undefined })
  const streams: Streams = {
    publish(key, ir) {
      scene.order.push(`publish ${key}`)
      scene.published.push(ir)
    },
    reach(key, endpoints) {
      scene.order.push(`reach ${key}`)
      scene.reached.set(key, endpoints)
    },
    retire: (key) => void scene.order.push(`retire ${key}`),
    stateOf: () => scene.state,
    connected: () => new Map([['shop/web', scene.state.connected]]),
  }
  const metrics = new Metrics()
  const controller = new Controller({
    client: api.client,
    streams,
    controllerName: 'portico.dev/gateway',
    clusterDomain: 'cluster.local',
    externalNames: [],
    checks: await loadResourceChecks(),
    namespace: 'portico-system',
    namespaces,
    namespaceSelector: null,
    deploy: { image: {}, version: '1.2.3' },
    testPolicy,
    peers: { take: () => undefined, lead: () => undefined, follow: () => undefined, isIncomplete: false },
    log: (module) => logger.child(module),
    metrics,
    reflector: { missingMs: 20, backoff: { firstMs: 5, mostMs: 20 } },
  })
  const stop = new AbortController()
  let running = Promise.resolve()
  t.after(async () => {
    stop.abort()
    await controller.follow()
    await running
  })
  const scene: ControllerScene = {
    api,
    controller,
    metrics,
    published: [],
    reached: new Map(),
    order: [],
    state: { connected: 0, acknowledged: false, problems: [] },
    start: () => void (running = controller.run(stop.signal)),
  }
  return scene
}

const gatewayClass: Resource = {
  apiVersion: GATEWAY_API,
  kind: 'GatewayClass',
  metadata: { name: 'portico', generation: 1 },
  spec: { controllerName: 'portico.dev/gateway' },
}

export function gateway(spec: object = {}): Resource {
  const metadata = { namespace: 'shop', name: 'web', generation: 1 }
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }]
  return {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata,
    spec: { gatewayClassName: 'portico', listeners, ...spec },
  }
}

let generation = 0

export function route(path: string): Resource {
  const rules = [{ matches: [{ path: { value: path } }], backendRefs: [{ name: 'cart', port: 80 }] }]
  const metadata = { namespace: 'shop', name: 'cart', generation: ++generation }
  return { apiVersion: GATEWAY_API, kind: 'HTTPRoute', metadata, spec: { parentRefs: [{ name: 'web' }], rules } }
}

const service: Resource = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'shop', name: 'cart' },
  spec: { ports: [{ port: 80 }] },
}

export function slice(address: string): Resource {
  const labels = { 'kubernetes.io/service-name': 'cart' }
  const metadata = { namespace: 'shop', name: 'cart-1', labels, generation: ++generation }
  const facts = { addressType: 'IPv4', ports: [{ port: 3000 }], endpoints: [{ addresses: [address] }] }
  return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', metadata, ...facts }
}

/** Assigns an address to the Service of the Gateway, like a load balancer. */
export function withAddress(api: ObjectApi, ip = '10.97.0.1'): Resource {
  const found = api.get('/api/v1/namespaces/shop/services/web') ?? assert.fail('there is no Service')
  return { ...found, ...{ status: { loadBalancer: { ingress: [{ ip }] } } } }
}

export function findCondition(api: ObjectApi, path: string, type: string): unknown {
  const status = api.get(path)?.status
  const lists = [status, ...listAt(status, 'parents')].flatMap((one) => listAt(one, 'conditions'))
  return lists.find((one) => textAt(one, 'type') === type)
}

export function conditionOf(api: ObjectApi, path: string, type: string): string | undefined {
  return textAt(findCondition(api, path, type), 'status')
}

export function reasonOf(api: ObjectApi, path: string, type: string): string | undefined {
  return textAt(findCondition(api, path, type), 'reason')
}
