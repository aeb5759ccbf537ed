import { labelValue } from './names.ts'

export { CONTROLLER_NAME } from '../identity.ts'

export const GATEWAY_NAME_LABEL = 'gateway.networking.k8s.io/gateway-name'

/** Labels that select the Pods of a Gateway in its namespace. */
export function selectorOf(gateway: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': 'portico',
    'app.kubernetes.io/instance': labelValue(gateway),
    [GATEWAY_NAME_LABEL]: labelValue(gateway),
  }
}
