import { type ApiKind, apiVersionOf } from '../kube/kinds.ts'

/** An object that is deployed for a Gateway. */
export interface DeployedObject extends Readonly<Record<string, unknown>> {
  apiVersion: string
  kind: DeployedKind
  metadata: DeployedMetadata
}

export interface DeployedMetadata {
  name: string
  namespace: string
  labels: Readonly<Record<string, string>>
  annotations?: Readonly<Record<string, string>>
  ownerReferences: readonly OwnerReference[]
}

/** The owner of an object; Kubernetes deletes the object with it. */
interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller: boolean
  blockOwnerDeletion: boolean
}

const kind = <Kind extends string>(
  kind: Kind,
  plural: string,
  group: string,
  version: string,
): ApiKind & { kind: Kind } => ({
  group,
  version,
  kind,
  plural,
  namespaced: true,
})

/** API kinds in the order in which they are applied, so that Pods find what they need. */
export const apiByKind = {
  ServiceAccount: kind('ServiceAccount', 'serviceaccounts', '', 'v1'),
  ConfigMap: kind('ConfigMap', 'configmaps', '', 'v1'),
  Secret: kind('Secret', 'secrets', '', 'v1'),
  Service: kind('Service', 'services', '', 'v1'),
  Deployment: kind('Deployment', 'deployments', 'apps', 'v1'),
  DaemonSet: kind('DaemonSet', 'daemonsets', 'apps', 'v1'),
  PodDisruptionBudget: kind('PodDisruptionBudget', 'poddisruptionbudgets', 'policy', 'v1'),
  HorizontalPodAutoscaler: kind('HorizontalPodAutoscaler', 'horizontalpodautoscalers', 'autoscaling', 'v2'),
}

export type DeployedKind = keyof typeof apiByKind

/** The kinds of which one runs the Pods of a Gateway. */
export type WorkloadKind = 'Deployment' | 'DaemonSet'

export function isWorkload(kind: string): kind is WorkloadKind {
  return kind === 'Deployment' || kind === 'DaemonSet'
}

export const deployedKinds = Object.values(apiByKind).map(({ kind }) => kind)

export function apiVersion(kind: DeployedKind): string {
  return apiVersionOf(apiByKind[kind])
}
