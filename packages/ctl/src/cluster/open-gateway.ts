import type { PortForward } from '@portico/controller/kube'
import type { Io } from '../io.ts'
import type { AdminAddress } from '../trace/admin-address.ts'
import type { Injection } from '../trace/curl.ts'
import { adminPortOf } from './admin-port.ts'
import { type Cluster, type LiveResource, openCluster } from './cluster.ts'
import { readyPodsOf } from './gateway-pods.ts'
import { forwardListener, type ListenerForward } from './listener-forward.ts'
import type { ClusterArguments } from './options.ts'
import { podAdmin } from './pod-admin.ts'

/** Connections to the Pods of a Gateway. */
export interface OpenGateway {
  /** The name in messages. */
  label: string
  admins: readonly [AdminAddress, ...AdminAddress[]]
  /** Opens a socket to the listener of the first Pod, and returns the request to be sent over that socket. */
  through(injection: Injection): Promise<Injection>
  close(): Promise<void>
}

interface GatewayOptions extends ClusterArguments {
  readonly gateway: string
  /** Whether one Pod is enough. */
  readonly onePod: boolean
}

/** The most Pods to connect to, so that a large Gateway does not open too many connections. */
const MOST_PODS = 16

/** Connects to the Gateway's ready Pods. Failures are ClusterProblems. */
export async function openGateway({ gateway, onePod, ...place }: GatewayOptions, env: Io['env']): Promise<OpenGateway> {
  const cluster = openCluster(place, env)
  const forwards: PortForward[] = []
  const listeners: ListenerForward[] = []
  const close = async (): Promise<void> => {
    for (const forward of forwards) forward.close()
    await Promise.all(listeners.map((listener) => listener.close()))
    cluster.close()
  }
  try {
    const pods = (await readyPodsOf(cluster, gateway)).slice(0, onePod ? 1 : MOST_PODS)
    const tried = await Promise.allSettled(pods.map((pod) => openPod(cluster, pod)))
    const opened = tried.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    forwards.push(...opened.map(({ forward }) => forward))
    const [first, ...others] = opened
    // A Pod that disappeared in the meantime is ignored while others remain.
    if (first === undefined) throw tried.find((each) => each.status === 'rejected')?.reason
    const name = `Gateway ${cluster.namespace}/${gateway}`
    return {
      label: others.length === 0 ? first.admin.label : `${name} (${opened.length} Pods)`,
      admins: [first.admin, ...others.map(({ admin }) => admin)],
      async through(injection) {
        const listener = await forwardListener(first.forward, injection.port)
        listeners.push(listener)
        const { socketPath } = listener
        return { ...injection, via: { socketPath, label: first.admin.label, problem: () => listener.problem() } }
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openPod(cluster: Cluster, pod: LiveResource): Promise<{ forward: PortForward; admin: AdminAddress }> {
  const { name, namespace = cluster.namespace } = pod.metadata
  const port = await adminPortOf(cluster, pod)
  const forward = await cluster.forward(name, namespace)
  return { forward, admin: podAdmin(forward, { label: `Pod ${namespace}/${name}`, port }) }
}
