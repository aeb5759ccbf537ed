import type { Resource } from '../resources/resource.ts'

/** Resources of tenants that share a Gateway, for tests of what one tenant does to another. */

export const GATEWAY = 'infra/edge'

const own = (kind: string, namespace: string, name: string, spec: object, more: object = {}): Resource => ({
  apiVersion: kind.startsWith('Gw') ? 'portico.dev/v1alpha1' : 'gateway.networking.k8s.io/v1',
  kind,
  metadata: { namespace, name, generation: 1, creationTimestamp: '2026-01-01T00:00:00Z', ...more },
  spec,
})

export function sharedGateway(): Resource[] {
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } }]
  return [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'portico' },
      spec: { controllerName: 'portico.dev/gateway' },
    },
    own('Gateway', 'infra', 'edge', {
      gatewayClassName: 'portico',
      listeners,
      allowedListeners: { namespaces: { from: 'All' } },
    }),
  ]
}

/** A route of a tenant with its own hostname, to its own backend. */
function tenant(namespace: string, port: number, backend: object = {}): Resource[] {
  return [
    own('GwBackend', namespace, 'app', { static: { host: '127.0.0.1', port }, ...backend }),
    own('HTTPRoute', namespace, 'web', {
      parentRefs: [{ namespace: 'infra', name: 'edge' }],
      hostnames: [`${namespace}.test`],
      rules: [{ backendRefs: [{ group: 'portico.dev', kind: 'GwBackend', name: 'app' }] }],
    }),
  ]
}

const onRoute = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', name: 'web' }
const onBackend = { group: 'portico.dev', kind: 'GwBackend', name: 'app' }
const self = { group: 'portico.dev', kind: 'GwBackend', name: 'app' }
const policy = (namespace: string, name: string, target: object, spec: object): Resource =>
  own('GwPolicy', namespace, name, { targetRefs: [target], ...spec })
const keysSecret = (namespace: string): Resource => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name: 'keys' },
  stringData: { accessKey: 'AKIAX', secretKey: 'very-secret' },
})

/** A change that a tenant makes to its own backend. */
interface TenantFault {
  /** Merged into the spec of the tenant's backend; `static: undefined` removes the static one. */
  backend?: (namespace: string) => object
  more?: (namespace: string) => Resource[]
  /** The message in the status of the resource at fault. */
  says: RegExp
}

const keyed = { requests: 5, unit: 'Seconds', key: 'source.address' }
const unix = { static: { unixPath: '/run/app.sock' } }

/** Resources that API servers accept and data planes cannot compile. */
export const TENANT_FAULTS: Readonly<Record<string, TenantFault>> = {
  'a basic user twice': {
    more: (namespace) => [
      policy(namespace, 'basic', onRoute, {
        traffic: {
          basicAuthentication: {
            users: ['u:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=', 'u:{SHA}0DPiKuNIrrVmD8IUCuw1hQxNqZc='],
          },
        },
      }),
    ],
    says: /spec\.traffic\.basicAuthentication\.users\[1\]: found user "u" a second time/,
  },
  'a cost that reads the response': {
    more: (namespace) => [
      policy(namespace, 'cost', onRoute, {
        traffic: {
          rateLimit: {
            global: {
              backendRef: self,
              domain: 'd',
              descriptors: [{ entries: [{ name: 'n', expression: '"v"' }], cost: 'response.code' }],
            },
          },
        },
      }),
    ],
    says: /descriptors\[0\]\.cost/,
  },
  'a header that cannot be set for an authorizer': {
    more: (namespace) => [
      policy(namespace, 'ask', onRoute, {
        traffic: { extAuth: { backendRef: self, http: { addRequestHeaders: { 'content-length': '"5"' } } } },
      }),
    ],
    says: /addRequestHeaders.*content-length/,
  },
  'a tunnel through itself': {
    backend: () => ({ policies: { tunnel: { backendRef: self } } }),
    says: /found a tunnel of/,
  },
  'a tunnel to a socket file': {
    backend: (namespace) => ({
      ...unix,
      policies: { tunnel: { backendRef: { group: 'portico.dev', kind: 'GwBackend', name: `${namespace}-proxy` } } },
    }),
    more: (namespace) => [
      own('GwBackend', namespace, `${namespace}-proxy`, { static: { host: '127.0.0.1', port: 1 } }),
    ],
    says: /a socket file cannot be reached through a tunnel/,
  },
  'keys of AWS without a region, in the backend': {
    backend: () => ({ policies: { auth: { aws: { secretRef: { name: 'keys' } } } } }),
    more: (namespace) => [keysSecret(namespace)],
    says: /found a host without a region in its name/,
  },
  'keys of AWS without a region, by a policy': {
    more: (namespace) => [
      keysSecret(namespace),
      policy(namespace, 'sign', onBackend, { backend: { auth: { aws: { secretRef: { name: 'keys' } } } } }),
    ],
    says: /found a host without a region in its name/,
  },
  'keys of AWS for any host': {
    backend: () => ({
      static: undefined,
      dynamicForwardProxy: {},
      policies: { auth: { aws: { secretRef: { name: 'keys' } } } },
    }),
    more: (namespace) => [keysSecret(namespace)],
    says: /for hosts that clients name/,
  },
  'an audience for an access token': {
    backend: () => ({ policies: { auth: { gcp: { audience: 'https://x.test' } } } }),
    says: /audience/,
  },
  'an identity token for a socket file': {
    backend: () => ({ ...unix, policies: { auth: { gcp: { type: 'IdToken' } } } }),
    says: /found a backend without a host/,
  },
  'an authorizer that asks itself': {
    backend: () => ({ policies: { extAuth: { backendRef: self, http: {} } } }),
    says: /found an authorizer whose own calls would need authorization by itself/,
  },
}

/** Resources of a tenant without a fault and without an effect on other tenants. */
export const HARMLESS: Readonly<Record<string, (namespace: string) => Resource[]>> = {
  nothing: () => [],
  'keys without end': (namespace) =>
    [0, 1, 2].map((index) =>
      policy(namespace, `keyed-${index}`, onRoute, {
        traffic: { rateLimit: { local: Array.from({ length: 16 }, () => ({ ...keyed, keys: { size: 1_000_000 } })) } },
      }),
    ),
  'a header': (namespace) => [
    policy(namespace, 'header', onRoute, {
      traffic: { headerModifiers: { response: { set: [{ name: 'x-tenant', value: namespace }] } } },
    }),
  ],
  'a denial': (namespace) => [
    policy(namespace, 'deny', onRoute, {
      traffic: { authorization: { action: 'Deny', policy: { matchExpressions: ['request.path == "/denied"'] } } },
    }),
  ],
}

/** All resources of a tenant: its route and backend, a faulty change, and harmless resources. */
export function tenantWith(namespace: string, port: number, fault: string | null, harmless: string): Resource[] {
  const { backend, more } = fault === null ? {} : (TENANT_FAULTS[fault] ?? {})
  return [
    ...tenant(namespace, port, backend?.(namespace)),
    ...(more?.(namespace) ?? []),
    ...(HARMLESS[harmless]?.(namespace) ?? []),
  ]
}

/** The data plane that the Gateways of `mergedClass` share. */
export const MERGED_PLANE = 'infra/merged:edge'

/** A GatewayClass whose Gateways share a data plane. */
export function mergedClass(): Resource[] {
  return [
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'shared' },
      spec: {
        controllerName: 'portico.dev/gateway',
        parametersRef: { group: 'portico.dev', kind: 'GwParameters', namespace: 'infra', name: 'edge' },
      },
    },
    own('GwParameters', 'infra', 'edge', { mergeGateways: true }),
  ]
}

export interface MergedListener {
  port: number
  hostname: string
}

interface MergedTenant {
  /** The year in which the Gateway was created: the older Gateway wins. */
  year: number
  /** The port of the backend. */
  port: number
  listeners: readonly MergedListener[]
  fault: string | null
  harmless: string
}

/** A tenant with a Gateway `web` of its own, whose listeners are `l0`, `l1` and so on, and a route for all of its hostnames. */
export function mergedTenant(namespace: string, { year, port, listeners, fault, harmless }: MergedTenant): Resource[] {
  const names = [...new Set(listeners.map(({ hostname }) => hostname))]
  const spec = {
    gatewayClassName: 'shared',
    listeners: listeners.map((listener, index) => ({ name: `l${index}`, protocol: 'HTTP', ...listener })),
  }
  return [
    own('Gateway', namespace, 'web', spec, { creationTimestamp: `${year}-01-01T00:00:00Z` }),
    ...tenantWith(namespace, port, fault, harmless).map((resource) => {
      if (resource.kind !== 'HTTPRoute') return resource
      return { ...resource, spec: { ...(resource.spec as object), parentRefs: [{ name: 'web' }], hostnames: names } }
    }),
  ]
}

/** A policy of a tenant for its whole Gateway. */
export function gatewayPolicy(namespace: string, spec: object): Resource {
  return policy(namespace, 'of-gateway', { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }, spec)
}
