import type { Resource } from '@portico/translate'
import { valueAt } from '@portico/translate/json'
import type { WorkloadKind } from './objects.ts'

/** The fields of a status that count Pods: those that should run, those of the newest template, and those that serve. */
const counts = {
  Deployment: { wanted: ['spec', 'replicas'], updated: 'updatedReplicas', available: 'availableReplicas' },
  DaemonSet: {
    wanted: ['status', 'desiredNumberScheduled'],
    updated: 'updatedNumberScheduled',
    available: 'numberAvailable',
  },
} as const

/** Whether all Pods of a workload run its newest template and serve. A DaemonSet without nodes never does. */
export function isRolledOut(kind: WorkloadKind, workload: Resource): boolean {
  const { wanted, updated, available } = counts[kind]
  const inStatus = (field: string): number => Number(valueAt(workload, 'status', field) ?? 0)
  const pods = Number(valueAt(workload, ...wanted) ?? 1)
  if (kind === 'DaemonSet' && pods === 0) return false
  const isObserved = inStatus('observedGeneration') >= (workload.metadata.generation ?? 0)
  return isObserved && inStatus(updated) >= pods && inStatus(available) >= pods
}

/** The number of Pods of a workload that are ready. */
export function readyPods(kind: WorkloadKind, workload: Resource | undefined): number {
  return Number(valueAt(workload, 'status', kind === 'Deployment' ? 'readyReplicas' : 'numberReady') ?? 0)
}
