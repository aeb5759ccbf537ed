import type { AttachedPolicy, Backend } from '@portico/gateway/ir'
import { readGateway } from '../../resources/gateway.ts'
import { GATEWAY_GROUP } from '../../resources/kinds.ts'
import { toAttachedPolicy } from '../to-attached-policy.ts'
import { backendTraffic, policyTargetOf } from '../policies/backend-traffic-policy.ts'
import { backendTls } from '../policies/backend-tls-policy.ts'
import type { Context, Query } from '../context.ts'
import { listenersOf } from '../listeners/listeners.ts'
import { sharedPlaneOf } from '../listeners/shared-data-plane.ts'
import { certificateOf, type Unusable } from '../materials.ts'
import { attachPolicies, type PoliciesOfGateway } from '../policies/policy.ts'
import { gatewayTelemetry } from '../policies/telemetry-policy.ts'
import { listenerModels } from '../routes/model-routes.ts'
import { inOrder, resourcesInBucket } from '../routes/route-buckets.ts'
import { PICKER_SUFFIX } from '../backends/inference-pool.ts'
import { placeOfService, serviceBackend } from '../backends/service.ts'
import { placeOfXBackend, xBackend } from '../backends/x-backend.ts'

/** All backends of a Gateway with their policies: those of routes, and those that policies and other backends call. */
export const gatewayBackends: Query<PoliciesOfGateway> = {
  name: 'gatewayBackends',
  compute(context, key) {
    const telemetry = context.read(gatewayTelemetry, key)
    const called = telemetry === null ? [] : [telemetry.backend]
    const reached = attachPolicies(context, key, {
      backends: [...context.read(routeBackends, key), ...called],
      filters: context.read(routeFilters, key),
    })
    const secured = secureBackends(context, key, reached.backends)
    const policies = [
      ...(telemetry === null ? [] : [telemetry.policy]),
      ...pickerDefaults(context, secured),
      ...reached.policies,
      ...secured.policies,
      ...trafficPoliciesOf(context, secured.backends),
      ...xBackendPolicies(context, secured.backends),
    ]
    return { backends: secured.backends, policies, keySizes: reached.keySizes }
  },
}

/** The settings of XBackends; they win over those of policies that target them. */
function xBackendPolicies(context: Context, backends: readonly Backend[]): AttachedPolicy[] {
  return backends.flatMap(({ key }) => {
    const place = placeOfXBackend(key)
    const made = place === null ? null : context.read(xBackend, place)
    if (made === null || 'reason' in made || Object.keys(made.policies).length === 0) return []
    return [toAttachedPolicy({ kind: 'backend', key }, { backend: made.policies })]
  })
}

/** The policies that XBackendTrafficPolicies add to backends. */
function trafficPoliciesOf(context: Context, backends: readonly Backend[]): AttachedPolicy[] {
  return backends.flatMap(({ key }) => {
    const target = policyTargetOf(key)
    const backend = target === null ? null : context.read(backendTraffic, target)
    // The backend may have an inline policy and TLS settings too, and keys are unique.
    return backend === null ? [] : [toAttachedPolicy({ kind: 'backend', key }, { key: `traffic/${key}`, backend })]
  })
}

/**
 * The backends of routes, of filters of listeners and of models. A separate query, so that a route change that keeps its backends does
 * not recompute all others.
 */
const routeBackends: Query<Backend[]> = {
  name: 'routeBackends',
  compute(context, key) {
    const backends = new Map<string, Backend>()
    for (const { state, filters } of context.read(listenersOf, key)) {
      if (state !== 'absent') for (const backend of filters.called) backends.set(backend.key, backend)
    }
    for (const backend of context.read(listenerModels, key).backends) backends.set(backend.key, backend)
    for (const ofRoute of inOrder(context, key, backendsInBucket)) {
      for (const backend of ofRoute) backends.set(backend.key, backend)
    }
    return [...backends.values()]
  },
}

/** The GwFilters of rules. A separate query, because most changes keep them. */
const routeFilters: Query<{ filter: string; rule: string }[]> = {
  name: 'routeFilters',
  compute: (context, key) => inOrder(context, key, filtersInBucket).flat(),
}

const filtersInBucket: Query<{ filter: string; rule: string }[][]> = {
  name: 'filtersInBucket',
  compute: (context, place) => context.read(resourcesInBucket, place).map(({ filters }) => filters),
}

const backendsInBucket: Query<Backend[][]> = {
  name: 'backendsInBucket',
  compute: (context, place) => context.read(resourcesInBucket, place).map(({ backends }) => backends),
}

/** The client certificate of a Gateway for backends; null when there is none. */
export const backendCertificate: Query<{ cert: string; key: string } | Unusable | null> = {
  name: 'backendCertificate',
  compute(context, key) {
    const resource = context.get('Gateway', key)
    if (resource === undefined) return null
    const { backendCertificate: reference, namespace } = readGateway(resource)
    // Gateways that share a data plane share its connections to backends.
    if (reference === null || context.read(sharedPlaneOf, key) !== null) return null
    const found = certificateOf(context, { group: GATEWAY_GROUP, kind: 'Gateway', namespace }, reference)
    if (!('reason' in found) || found.reason === 'RefNotPermitted') return found
    return { ...found, reason: 'InvalidClientCertificateRef' }
  },
}

/**
 * Endpoint pickers serve TLS with a certificate that they sign themselves, so that nobody could verify it. The default is
 * the weakest policy: a BackendTLSPolicy or a GwPolicy for the Service replaces it. A port with `kubernetes.io/h2c` is
 * called without TLS.
 */
function pickerDefaults(
  context: Context,
  { backends, policies }: { backends: readonly Backend[]; policies: readonly AttachedPolicy[] },
): AttachedPolicy[] {
  const secured = new Set(policies.map(({ target }) => (target.kind === 'gateway' ? '' : target.key)))
  return backends.flatMap(({ key }) => {
    const place = key.endsWith(PICKER_SUFFIX) && !secured.has(key) ? placeOfService(key) : null
    const found = place === null ? null : context.read(serviceBackend, place)
    if (found === null || 'reason' in found || found.port.appProtocol === 'kubernetes.io/h2c') return []
    return [toAttachedPolicy({ kind: 'backend', key }, { backend: { tls: { insecureSkipVerify: 'All' } } })]
  })
}

/**
 * Returns the backends with the policies that BackendTLSPolicies add. A backend whose TLS settings or client
 * certificate cannot be used becomes an invalid backend.
 */
function secureBackends(
  context: Context,
  gateway: string,
  backends: readonly Backend[],
): { backends: Backend[]; policies: AttachedPolicy[] } {
  const policies: AttachedPolicy[] = []
  const own = context.read(backendCertificate, gateway)
  const secured = backends.map((backend): Backend => {
    const tls = context.read(backendTls, backend.key)
    if (tls === null) return backend
    const problem = 'reason' in tls ? tls : own !== null && 'reason' in own ? own : null
    if (problem !== null || 'reason' in tls) {
      return { ...backend, target: { kind: 'invalid', reason: problem?.message ?? '' } }
    }
    const certificate = own === null || 'reason' in own ? {} : { mtlsCertificateRef: own }
    policies.push(
      toAttachedPolicy(
        { kind: 'backend', key: backend.key },
        { key: `tls/${backend.key}`, backend: { tls: { ...tls.tls, ...certificate } } },
      ),
    )
    return backend
  })
  return { backends: secured, policies }
}
