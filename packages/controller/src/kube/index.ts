/** The parts of the Kubernetes client that other packages use. */
export type { Connection, Credentials } from './connection.ts'
export { inClusterConnection } from './in-cluster.ts'
export { type ApiKind, pathOf } from './kinds.ts'
export { KubeClient } from './kube-client.ts'
export { isStatus, KubeError } from './kube-error.ts'
export { type Kubeconfig, type KubeconfigOptions, NoKubeconfig, readKubeconfig } from './kubeconfig.ts'
export { type ForwardedConnection, PortForward } from './port-forward.ts'
