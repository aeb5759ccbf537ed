import { join } from 'node:path'

/** What the outside has written for the inside, in a folder of the bed's own. */
export interface BedSettings {
  /** `api` is etcd and the API server alone; `all` has controllers, Services that work, and Pods that run. */
  parts: 'api' | 'all'
  /** Files of CRDs and the like that are there from the start. */
  manifests: readonly string[]
}

/** A path below the folder. */
export function bedFiles(folder: string) {
  const at = (name: string): string => join(folder, name)
  return {
    settings: at('settings.json'),
    images: at('images.json'),
    kubelet: at('kubelet.json'),
    /** Of cluster admin; with the address inside. */
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

export const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-proxy', 'kubelet'] as const
export type Program = (typeof PROGRAMS)[number]
