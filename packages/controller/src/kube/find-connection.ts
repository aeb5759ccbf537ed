import type { Connection } from './connection.ts'
import { inClusterConnection } from './in-cluster.ts'
import { readKubeconfig } from './kubeconfig.ts'

/** Uses the given kubeconfig; without one the service account of the Pod, or the kubeconfig that kubectl would use. */
export function findConnection(kubeconfig: string | null): Connection {
  const inside = kubeconfig === null ? inClusterConnection(process.env) : undefined
  return inside ?? readKubeconfig(kubeconfig === null ? {} : { file: kubeconfig })
}
