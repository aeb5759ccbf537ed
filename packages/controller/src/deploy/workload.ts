import { isObject } from '@portico/http/json'
import type { JsonObject } from '@portico/translate/json'
import { object } from './identity.ts'
import { apiVersion, type DeployedObject, type WorkloadKind } from './objects.ts'
import { applyOverlays, overlayByKind } from './overlay.ts'
import { type Autoscaling, type Level, mergeTyped } from './parameters.ts'
import { type PodParts, podTemplate } from './pod.ts'

/** A DaemonSet starts the new Pod of a node before it stops the old one. By default Kubernetes does it the other way. */
const DAEMON_SET_STRATEGY = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } }

/** The custom metrics of Pods that an adapter must serve, by the names in GwParameters. */
const customMetrics = {
  RequestsPerSecond: 'portico_requests_per_second',
  ActiveRequests: 'portico_requests_active',
  ActiveConnections: 'portico_downstream_connections_active',
} as const

/** The fields that have no object beside a workload of this kind. */
const uselessFields = {
  Deployment: ['daemonSet'],
  DaemonSet: ['deployment', 'autoscaling', 'horizontalPodAutoscaler'],
} as const satisfies Record<WorkloadKind, readonly (keyof Level['spec'])[]>

/** Returns the object that runs the Pods, and the optional objects that parameters enable. */
export function workloadObjects(pod: PodParts, levels: readonly Level[], problems: string[]): DeployedObject[] {
  const { identity } = pod
  const { workload: { kind = 'Deployment' } = {}, autoscaling } = mergeTyped(levels)
  problems.push(...uselessFieldProblems(kind, levels))
  const selector = { matchLabels: identity.selector }
  const strategy = kind === 'DaemonSet' ? { updateStrategy: DAEMON_SET_STRATEGY } : {}
  const workload = object(identity, kind, { spec: { selector, ...strategy, template: podTemplate(pod) } })
  const isAsked = (field: keyof Level['spec']): boolean => levels.some(({ spec }) => spec[field] !== undefined)
  const isScaled =
    kind === 'Deployment' && (autoscaling !== undefined || isAsked(overlayByKind.HorizontalPodAutoscaler))
  const wanted = applyOverlays(workload, kind, levels, problems)
  const budget = object(identity, 'PodDisruptionBudget', { spec: { selector } })
  const scaleTargetRef = { apiVersion: apiVersion(kind), kind, name: identity.metadata.name }
  const scaler = object(identity, 'HorizontalPodAutoscaler', {
    spec: { scaleTargetRef, ...(autoscaling !== undefined && scaling(autoscaling)) },
  })
  return [
    isScaled ? withoutReplicas(wanted) : wanted,
    ...(isAsked(overlayByKind.PodDisruptionBudget)
      ? [applyOverlays(budget, 'PodDisruptionBudget', levels, problems)]
      : []),
    ...(isScaled ? [applyOverlays(scaler, 'HorizontalPodAutoscaler', levels, problems)] : []),
  ]
}

function scaling({ minReplicas = 1, maxReplicas, metrics }: Autoscaling): JsonObject {
  return {
    minReplicas,
    maxReplicas,
    metrics: metrics.map(({ metric, target }) => ({
      type: 'Pods',
      pods: {
        metric: { name: customMetrics[metric] },
        target: { type: 'AverageValue', averageValue: String(target) },
      },
    })),
  }
}

/**
 * Fields that could have no effect. Those below the level that chooses the kind are no problem: a class may have
 * such fields for its Deployments, and one of its Gateways a DaemonSet.
 */
function uselessFieldProblems(kind: WorkloadKind, levels: readonly Level[]): string[] {
  const chooser = levels.findLastIndex(({ spec }) => spec.workload?.kind !== undefined)
  return levels
    .slice(Math.max(0, chooser))
    .flatMap(({ from, spec }) =>
      uselessFields[kind]
        .filter((field) => spec[field] !== undefined)
        .map((field) => `GwParameters ${from}: ${field} has no effect, because workload.kind is ${kind}`),
    )
}

/** Removes `replicas`, because two writers of that field would overwrite each other forever. */
function withoutReplicas(deployment: DeployedObject): DeployedObject {
  const { spec } = deployment
  if (!isObject(spec)) return deployment
  const { replicas: _, ...rest } = spec
  return { ...deployment, spec: rest }
}
