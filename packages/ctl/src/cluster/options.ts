/** The options that select a cluster, named as in kubectl. */
export const clusterOptions = {
  namespace: {
    kind: 'value',
    short: 'n',
    value: '<namespace>',
    summary: 'namespace in the cluster (default: that of the context)',
  },
  context: { kind: 'value', value: '<name>', summary: 'context of the kubeconfig (default: the current one)' },
  kubeconfig: {
    kind: 'value',
    value: '<path>',
    summary: 'kubeconfig (env KUBECONFIG, default ~/.kube/config; in a Pod its service account)',
    isPath: true,
  },
} as const

/** The names in a list of contexts such as `blue,green`, each once. */
export function contextsIn(list: string): string[] {
  return [...new Set(list.split(',').map((name) => name.trim()))]
}

export interface ClusterArguments {
  readonly namespace: string | null
  readonly context: string | null
  readonly kubeconfig: string | null
}
