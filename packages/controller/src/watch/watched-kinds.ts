import { groupByKind, isKind, type Kind } from '@portico/translate'
import type { ApiKind } from '../kube/kinds.ts'

/** A kind that translation reads, and its possible API versions. */
export interface WatchedKind {
  kind: Kind
  plural: string
  namespaced: boolean
  /** Versions in order of preference; the first that the server has is read. */
  versions: readonly string[]
  fieldSelector?: string
}

type Facts = Omit<WatchedKind, 'kind' | 'namespaced'> & { namespaced?: false }

/** Types of Secrets that no resource refers to; they are large, numerous or sensitive. */
const OTHERS_SECRETS = [
  'helm.sh/release.v1',
  'kubernetes.io/service-account-token',
  'kubernetes.io/dockercfg',
  'kubernetes.io/dockerconfigjson',
  'bootstrap.kubernetes.io/token',
]

const facts: Readonly<Record<Kind, Facts>> = {
  GatewayClass: { plural: 'gatewayclasses', versions: ['v1'], namespaced: false },
  Gateway: { plural: 'gateways', versions: ['v1'] },
  ListenerSet: { plural: 'listenersets', versions: ['v1'] },
  XListenerSet: { plural: 'xlistenersets', versions: ['v1alpha1'] },
  HTTPRoute: { plural: 'httproutes', versions: ['v1'] },
  GRPCRoute: { plural: 'grpcroutes', versions: ['v1'] },
  TLSRoute: { plural: 'tlsroutes', versions: ['v1', 'v1alpha3', 'v1alpha2'] },
  TCPRoute: { plural: 'tcproutes', versions: ['v1', 'v1alpha2'] },
  UDPRoute: { plural: 'udproutes', versions: ['v1', 'v1alpha2'] },
  BackendTLSPolicy: { plural: 'backendtlspolicies', versions: ['v1', 'v1alpha3'] },
  XBackend: { plural: 'xbackends', versions: ['v1alpha1'] },
  XBackendTrafficPolicy: { plural: 'xbackendtrafficpolicies', versions: ['v1alpha1'] },
  XTelemetryPolicy: { plural: 'xtelemetrypolicies', versions: ['v1alpha1'] },
  ReferenceGrant: { plural: 'referencegrants', versions: ['v1', 'v1beta1'] },
  Service: { plural: 'services', versions: ['v1'] },
  EndpointSlice: { plural: 'endpointslices', versions: ['v1'] },
  Secret: {
    plural: 'secrets',
    versions: ['v1'],
    fieldSelector: OTHERS_SECRETS.map((type) => `type!=${type}`).join(','),
  },
  ConfigMap: { plural: 'configmaps', versions: ['v1'] },
  ClusterTrustBundle: {
    plural: 'clustertrustbundles',
    versions: ['v1', 'v1beta1', 'v1alpha1'],
    namespaced: false,
  },
  Namespace: { plural: 'namespaces', versions: ['v1'], namespaced: false },
  InferencePool: { plural: 'inferencepools', versions: ['v1'] },
  ServiceImport: { plural: 'serviceimports', versions: ['v1beta1', 'v1alpha1'] },
  GwBackend: { plural: 'gwbackends', versions: ['v1alpha1'] },
  GwModel: { plural: 'gwmodels', versions: ['v1alpha1'] },
  GwPolicy: { plural: 'gwpolicies', versions: ['v1alpha1'] },
  GwFilter: { plural: 'gwfilters', versions: ['v1alpha1'] },
  GwParameters: { plural: 'gwparameters', versions: ['v1alpha1'] },
  Pod: { plural: 'pods', versions: ['v1'] },
}

/** Kinds that are always watched. */
export const watchedKinds: readonly WatchedKind[] = Object.keys(facts)
  .filter(isKind)
  .filter((kind) => kind !== 'Pod')
  .map(watchedKind)

/** Pods are watched only while parameters of a Gateway have `mesh`, or an InferencePool or an XBackend selects Pods. */
export const PODS: WatchedKind = watchedKind('Pod')

function watchedKind(kind: Kind): WatchedKind {
  return { namespaced: true, ...facts[kind], kind }
}

/** The API kind for one of its versions. */
export function apiKindOf({ kind, plural, namespaced }: WatchedKind, version: string): ApiKind {
  return { group: groupByKind[kind], version, kind, plural, namespaced }
}
