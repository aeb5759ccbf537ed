import type { Resource } from './resource.ts'

/** Kinds that translation reads, with their group. */
export const groupByKind = {
  GatewayClass: 'gateway.networking.k8s.io',
  Gateway: 'gateway.networking.k8s.io',
  ListenerSet: 'gateway.networking.k8s.io',
  HTTPRoute: 'gateway.networking.k8s.io',
  GRPCRoute: 'gateway.networking.k8s.io',
  TLSRoute: 'gateway.networking.k8s.io',
  TCPRoute: 'gateway.networking.k8s.io',
  UDPRoute: 'gateway.networking.k8s.io',
  BackendTLSPolicy: 'gateway.networking.k8s.io',
  XListenerSet: 'gateway.networking.x-k8s.io',
  XBackend: 'gateway.networking.x-k8s.io',
  XBackendTrafficPolicy: 'gateway.networking.x-k8s.io',
  XTelemetryPolicy: 'gateway.networking.x-k8s.io',
  ReferenceGrant: 'gateway.networking.k8s.io',
  Service: '',
  EndpointSlice: 'discovery.k8s.io',
  Secret: '',
  ConfigMap: '',
  ClusterTrustBundle: 'certificates.k8s.io',
  Namespace: '',
  Pod: '',
  InferencePool: 'inference.networking.k8s.io',
  ServiceImport: 'multicluster.x-k8s.io',
  GwBackend: 'portico.dev',
  GwModel: 'portico.dev',
  GwPolicy: 'portico.dev',
  GwFilter: 'portico.dev',
  GwParameters: 'portico.dev',
} as const

export type Kind = keyof typeof groupByKind

export const routeKinds = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'] as const

export type RouteKind = (typeof routeKinds)[number]

/** ListenerSets of the Gateway API, and their experimental form of the releases before 1.5, with the same fields. */
export const listenerSetKinds = ['ListenerSet', 'XListenerSet'] as const

export type ListenerSetKind = (typeof listenerSetKinds)[number]

/** Returns null for references to other kinds. */
export function listenerSetKindOf({ group, kind }: { group: string; kind: string }): ListenerSetKind | null {
  return listenerSetKinds.find((each) => each === kind && groupByKind[each] === group) ?? null
}

export const GATEWAY_GROUP = 'gateway.networking.k8s.io'

/** Returns null for kinds that translation does not read, and for kinds of that name in other groups. */
export function kindOf({ apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>): Kind | null {
  if (!isKind(kind)) return null
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  return groupByKind[kind] === group ? kind : null
}

export function isKind(text: string): text is Kind {
  return Object.hasOwn(groupByKind, text)
}
