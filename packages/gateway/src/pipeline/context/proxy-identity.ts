/** The identity of this proxy in expressions, traces, logs and metrics. */
export interface ProxyIdentity {
  podName: string
  namespace: string
  gateway: string
}

/** Returns the name of the gateway in logs, metrics and spans. */
export function gatewayName({ namespace, gateway }: ProxyIdentity): string {
  return `${namespace}/${gateway}`
}
