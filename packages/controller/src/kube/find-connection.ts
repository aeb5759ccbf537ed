import type { Connection } from './connection.ts'
import { inClusterConnection } from './in-cluster.ts'
import { readKubeconfig } from './kubeconfig.ts'

/** As a file says; without one that of the Pod, or what kubectl would use. */
export function findConnection(kubeconfig: string | null): Connection {
  const inside = kubeconfig === null ? inClusterConnection(process.env) : undefined
  return inside ?? readKubeconfig(kubeconfig === null ? {} : { file: kubeconfig })
}
