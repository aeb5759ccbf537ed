import type { IndexTable } from '../resources/lookups.ts'
import { Fields } from '../resources/fields.ts'
import { readListenerSet } from '../resources/listener-set.ts'
import { groupByKind, isKind } from '../resources/kinds.ts'
import { readInferencePool } from '../resources/inference-pool.ts'
import { readBackendRef, readParentRefs, readReference } from '../resources/references.ts'
import type { Resource } from '../resources/resource.ts'
import { bucketOf } from './listeners/buckets.ts'

/** Indexes from a referenced object to the resources that refer to it. */
const route = {
  /** `Gateway/namespace/name`, a space, and the bucket of the route. */
  parent({ kind, metadata: { namespace = '', name }, spec }: Resource): string[] {
    const bucket = bucketOf(`${kind}/${namespace}/${name}`)
    return readParentRefs(new Fields(spec, ['spec'], []), namespace).map(
      (parent) => `${parent.kind}/${parent.namespace}/${parent.name} ${bucket}`,
    )
  },
  /** `namespace/name` of the GwFilters of its rules. */
  filter: ({ metadata: { namespace = '' }, spec }: Resource): string[] =>
    new Fields(spec, ['spec'], [])
      .objects('rules')
      .flatMap((rule) => rule.objects('filters'))
      .map((filter) => filter.object('extensionRef'))
      .filter((fields) => fields.text('kind') === 'GwFilter' && fields.text('group') === groupByKind.GwFilter)
      .map((fields) => `${namespace}/${fields.text('name')}`),
  /** `Service/namespace/name`, including mirrors and authorizers. */
  backend: ({ metadata: { namespace = '' }, spec }: Resource): string[] =>
    new Fields(spec, ['spec'], []).objects('rules').flatMap((rule) =>
      [...rule.objects('backendRefs'), ...calledBy(rule), ...rule.objects('backendRefs').flatMap(calledBy)].flatMap(
        (fields) => {
          const found = readBackendRef(fields, namespace)
          const isForeign = found !== undefined && isKind(found.kind) && groupByKind[found.kind] !== found.group
          return found === undefined || isForeign ? [] : [`${found.kind}/${found.namespace}/${found.name}`]
        },
      ),
    ),
}

function calledBy(fields: Fields): Fields[] {
  return fields
    .objects('filters')
    .flatMap((filter) =>
      ['requestMirror', 'externalAuth'].filter((key) => filter.has(key)).map((key) => filter.object(key)),
    )
    .map((filter) => filter.object('backendRef'))
}

/** `namespace name=value` of each label. */
function label({ metadata: { namespace = '', labels } }: Resource): string[] {
  return Object.entries(labels ?? {}).map(([name, value]) => `${namespace} ${name}=${value}`)
}

/** `Service/namespace/name` of each target of a policy. */
function targetsOf({ metadata: { namespace = '' }, spec }: Resource): string[] {
  return new Fields(spec, ['spec'], []).objects('targetRefs').flatMap((fields) => {
    const target = readReference(fields, { group: '', kind: '', namespace })
    return target === undefined ? [] : [`${target.kind}/${namespace}/${target.name}`]
  })
}

/** `namespace/name` of the Gateway of a ListenerSet. */
function gatewayOfSet(resource: Resource): string[] {
  const { parent } = readListenerSet(resource)
  return parent === undefined || parent.kind !== 'Gateway' ? [] : [`${parent.namespace}/${parent.name}`]
}

export const indexTable: IndexTable = {
  HTTPRoute: route,
  GRPCRoute: route,
  TLSRoute: route,
  TCPRoute: route,
  UDPRoute: route,
  ListenerSet: { gateway: gatewayOfSet },
  XListenerSet: { gateway: gatewayOfSet },
  EndpointSlice: {
    /** `namespace/name` of its Service. */
    service({ metadata: { namespace = '', labels } }) {
      const name = labels?.['kubernetes.io/service-name']
      return name === undefined ? [] : [`${namespace}/${name}`]
    },
    /** `namespace/name` of its ServiceImport. */
    import({ metadata: { namespace = '', labels } }) {
      const name = labels?.['multicluster.kubernetes.io/service-name']
      return name === undefined ? [] : [`${namespace}/${name}`]
    },
  },
  Secret: { label },
  Pod: { label },
  InferencePool: {
    /** `namespace/name` of the Service that is its endpoint picker. */
    picker(resource) {
      const { picker } = readInferencePool(resource)
      return picker === null ? [] : [`${picker.namespace}/${picker.name}`]
    },
  },
  GwBackend: {
    /** `namespace/name` of each InferencePool of its providers. */
    pool({ metadata: { namespace = '' }, spec }) {
      const ai = new Fields(spec, ['spec'], []).object('ai')
      const grouped = ai.objects('groups').flatMap((group) => group.objects('providers'))
      const ofModels = ai.objects('models').map((model) => model.object('provider'))
      const all = [ai.object('provider'), ...grouped, ...ofModels]
      const pools = all.filter((fields) => fields.has('inferencePool'))
      return pools.map((fields) => `${namespace}/${fields.object('inferencePool').text('name')}`)
    },
  },
  GwModel: {
    /** `Kind/namespace/name` of its parents. */
    parent({ metadata: { namespace = '' }, spec }) {
      const parents = readParentRefs(new Fields(spec, ['spec'], []), namespace)
      return parents.map((parent) => `${parent.kind}/${parent.namespace}/${parent.name}`)
    },
  },
  BackendTLSPolicy: { target: targetsOf },
  XBackendTrafficPolicy: { target: targetsOf },
  XTelemetryPolicy: { target: targetsOf },
}
