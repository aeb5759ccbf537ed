import { isObject } from '@portico/http/json'
import { object } from './identity.ts'
import { apiVersion, type DeployedObject, type WorkloadKind } from './objects.ts'
import { applyOverlays, overlayByKind } from './overlay.ts'
import { type Level, mergeTyped } from './parameters.ts'
import { type PodParts, podTemplate } from './pod.ts'

/** A DaemonSet starts the new Pod of a node before it stops the old one. By default Kubernetes does it the other way. */
const DAEMON_SET_STRATEGY = { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } }

/** The overlays that have no object beside a workload of this kind. */
const uselessOverlays = {
  Deployment: ['daemonSet'],
  DaemonSet: ['deployment', 'horizontalPodAutoscaler'],
} as const satisfies Record<WorkloadKind, readonly (keyof Level['spec'])[]>

/** Returns the object that runs the Pods, and the optional objects that parameters enable. */
export function workloadObjects(pod: PodParts, levels: readonly Level[], problems: string[]): DeployedObject[] {
  const { identity } = pod
  const kind = mergeTyped(levels).workload?.kind ?? 'Deployment'
  problems.push(...uselessOverlayProblems(kind, levels))
  const selector = { matchLabels: identity.selector }
  const strategy = kind === 'DaemonSet' ? { updateStrategy: DAEMON_SET_STRATEGY } : {}
  const workload = object(identity, kind, { spec: { selector, ...strategy, template: podTemplate(pod) } })
  const scaleTargetRef = { apiVersion: apiVersion(kind), kind, name: identity.metadata.name }
  const isAsked = (field: keyof Level['spec']): boolean => levels.some(({ spec }) => spec[field] !== undefined)
  const isScaled = kind === 'Deployment' && isAsked(overlayByKind.HorizontalPodAutoscaler)
  const wanted = applyOverlays(workload, kind, levels, problems)
  const budget = object(identity, 'PodDisruptionBudget', { spec: { selector } })
  const scaler = object(identity, 'HorizontalPodAutoscaler', { spec: { scaleTargetRef } })
  return [
    isScaled ? withoutReplicas(wanted) : wanted,
    ...(isAsked(overlayByKind.PodDisruptionBudget)
      ? [applyOverlays(budget, 'PodDisruptionBudget', levels, problems)]
      : []),
    ...(isScaled ? [applyOverlays(scaler, 'HorizontalPodAutoscaler', levels, problems)] : []),
  ]
}

/**
 * Overlays that could have no effect. Those below the level that chooses the kind are no problem: a class may have
 * overlays for its Deployments, and one of its Gateways a DaemonSet.
 */
function uselessOverlayProblems(kind: WorkloadKind, levels: readonly Level[]): string[] {
  const chooser = levels.findLastIndex(({ spec }) => spec.workload?.kind !== undefined)
  return levels
    .slice(Math.max(0, chooser))
    .flatMap(({ from, spec }) =>
      uselessOverlays[kind]
        .filter((overlay) => spec[overlay] !== undefined)
        .map((overlay) => `GwParameters ${from}: ${overlay} has no effect, because workload.kind is ${kind}`),
    )
}

/** Removes `replicas`, because two writers of that field would overwrite each other forever. */
function withoutReplicas(deployment: DeployedObject): DeployedObject {
  const { spec } = deployment
  if (!isObject(spec)) return deployment
  const { replicas: _, ...rest } = spec
  return { ...deployment, spec: rest }
}
