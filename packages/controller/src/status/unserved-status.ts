import type { Condition, GatewayStatus, Reason, Resource } from '@portico/translate'

/** The status of a Gateway in a namespace where the controller may do nothing. What is deployed there stays as it is. */
export function unservedGatewayStatus({ metadata }: Resource, message: string): GatewayStatus {
  const reason: Reason = 'NamespaceNotServed'
  const say = (type: 'Accepted' | 'Programmed'): Condition => ({
    type,
    status: 'False',
    reason,
    message,
    observedGeneration: metadata.generation ?? 0,
  })
  return { conditions: [say('Accepted'), say('Programmed')], listeners: [], attachedListenerSets: 0 }
}
