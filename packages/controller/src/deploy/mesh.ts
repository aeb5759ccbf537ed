import type { JsonObject } from '@portico/translate/json'
import type { EnvVar, TypedParameters } from './parameters.ts'

/** Parts of a Pod that make it a workload of a mesh; empty outside of a mesh. */
interface MeshParts {
  labels: Readonly<Record<string, string>>
  env: readonly EnvVar[]
  volumes: readonly JsonObject[]
  volumeMounts: readonly JsonObject[]
}

/** The data plane speaks HBONE itself, so neither a sidecar nor the node proxy may intercept its connections. */
const LABELS = { 'istio.io/dataplane-mode': 'none', 'sidecar.istio.io/inject': 'false' }
/** Kubernetes rotates a token after 80 % of this time. */
const TOKEN_SECONDS = 43_200

/** The files are at the default paths of `config.mesh`. */
export function meshParts({ mesh }: TypedParameters): MeshParts {
  if (mesh === undefined) return { labels: {}, env: [], volumes: [], volumeMounts: [] }
  const serviceAccountToken = { audience: 'istio-ca', expirationSeconds: TOKEN_SECONDS, path: 'istio-token' }
  return {
    labels: LABELS,
    env: [{ name: 'SERVICE_ACCOUNT', valueFrom: { fieldRef: { fieldPath: 'spec.serviceAccountName' } } }],
    volumes: [
      // Istio creates the ConfigMap; until then the Pod runs without a mesh certificate.
      { name: 'istiod-ca-cert', configMap: { name: 'istio-ca-root-cert', optional: true } },
      { name: 'istio-token', projected: { sources: [{ serviceAccountToken }] } },
    ],
    volumeMounts: [
      { name: 'istiod-ca-cert', mountPath: '/var/run/secrets/istio', readOnly: true },
      { name: 'istio-token', mountPath: '/var/run/secrets/tokens', readOnly: true },
    ],
  }
}
