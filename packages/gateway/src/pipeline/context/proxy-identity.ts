/** Who this proxy is, as expressions, snapshots of traces, logs and metrics say. */
export interface ProxyIdentity {
  podName: string
  namespace: string
  gateway: string
}

/** As logs, metrics and spans have it. */
export function gatewayName({ namespace, gateway }: ProxyIdentity): string {
  return `${namespace}/${gateway}`
}
