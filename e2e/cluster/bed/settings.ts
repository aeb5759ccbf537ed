import { join } from 'node:path'

/** Settings that the test process writes for the processes of the bed, in the folder of the bed. */
export interface BedSettings {
  /** `api` runs only etcd and the API server; `all` adds controllers, working Services, and running Pods. */
  parts: 'api' | 'all'
  /** Files with CRDs and other objects that are created at the start. */
  manifests: readonly string[]
  /** Whether the API server has ClusterTrustBundles, which it does not have by default. */
  trustBundles: boolean
}

/** A path below the folder. */
export function bedFiles(folder: string) {
  const at = (name: string): string => join(folder, name)
  return {
    settings: at('settings.json'),
    images: at('images.json'),
    kubelet: at('kubelet.json'),
    /** The kubeconfig of the cluster administrator, with the address inside the bed. */
    kubeconfig: at('kubeconfig'),
    proxy: at('proxy.json'),
    relay: at('relay.sock'),
    pods: at('pods'),
    etcd: at('etcd'),
    logOf: (program: string) => at(`${program}.log`),
    ca: at('ca.crt'),
    server: { cert: at('server.crt'), key: at('server.key') },
    toKubelet: { cert: at('to-kubelet.crt'), key: at('to-kubelet.key') },
    accounts: { public: at('accounts.pub'), private: at('accounts.key') },
    tokens: at('tokens.csv'),
  }
}

/** One word to another between inside and outside, each a line. */
export type Order = { order: 'kill'; program: Program; signal: NodeJS.Signals } | { order: 'start'; program: Program }

const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kubelet'] as const
export type Program = (typeof PROGRAMS)[number]
