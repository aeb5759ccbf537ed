import type { Container } from './container.ts'
import { NODE_ADDRESS, now } from './node-settings.ts'
import type { PodObject } from './pod-types.ts'

export interface Condition {
  type: string
  status: 'True' | 'False'
  lastTransitionTime: string
  reason?: string
}

interface PodState {
  object: PodObject
  containers: readonly Container[]
  isStopping: boolean
  address: string
}

/** The status of a Pod for the API server; conditions keep the time of their last change. */
export function statusOf(
  { containers, isStopping, address, object }: PodState,
  before: readonly Condition[],
  startTime: string,
): { conditions: readonly Condition[]; status: object } {
  const [init, main] = [containers.filter(({ isInit }) => isInit), containers.filter(({ isInit }) => !isInit)]
  const isInitialized = init.every(({ isReady }) => isReady)
  const isReady = isInitialized && !isStopping && main.every((container) => container.isReady)
  const condition = (type: string, holds: boolean): Condition => {
    const status = holds ? 'True' : 'False'
    const old = before.find((one) => one.type === type)
    const lastTransitionTime = old?.status === status ? old.lastTransitionTime : now()
    return { type, status, lastTransitionTime, ...(!holds && { reason: 'ContainersNotReady' }) }
  }
  const conditions = [
    condition('PodScheduled', true),
    condition('PodReadyToStartContainers', true),
    condition('Initialized', isInitialized),
    condition('ContainersReady', isReady),
    condition('Ready', isReady),
  ]
  const status = {
    phase: phaseOf(main),
    hostIP: NODE_ADDRESS,
    hostIPs: [{ ip: NODE_ADDRESS }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime,
    qosClass: object.status?.qosClass,
    conditions,
    containerStatuses: main.map((container) => containerStatus(container, isStopping)),
    ...(init.length > 0 && { initContainerStatuses: init.map((container) => containerStatus(container, isStopping)) }),
  }
  return { conditions, status }
}

function phaseOf(main: readonly Container[]): string {
  if (main.every(({ isDone }) => isDone)) {
    return main.some(({ last }) => last?.terminated.exitCode !== 0) ? 'Failed' : 'Succeeded'
  }
  return main.some(({ state, restarts }) => 'running' in state || restarts > 0) ? 'Running' : 'Pending'
}

function containerStatus(container: Container, isStopping: boolean): object {
  const { spec, state, last, restarts, isReady, hasStarted, pid } = container
  return {
    name: spec.name,
    image: spec.image,
    imageID: `process://${spec.image}`,
    containerID: `process://${pid ?? 0}`,
    ready: isReady && !isStopping,
    started: hasStarted,
    restartCount: restarts,
    state,
    ...(last !== undefined && last !== state && { lastState: last }),
  }
}
