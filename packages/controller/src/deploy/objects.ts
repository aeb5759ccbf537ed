/** An object that is deployed for a Gateway. */
export interface Deployed extends Readonly<Record<string, unknown>> {
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

/** Who an object goes with, when its owner goes. */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller: boolean
  blockOwnerDeletion: boolean
}

/** In the order in which they are applied: what Pods need is there before them. */
export const apiVersionByKind = {
  ServiceAccount: 'v1',
  ConfigMap: 'v1',
  Secret: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
} as const

export type DeployedKind = keyof typeof apiVersionByKind

export const deployedKinds = Object.keys(apiVersionByKind) as DeployedKind[]
