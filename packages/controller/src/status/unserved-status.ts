import type { Condition, GatewayStatus, Reason, Resource } from '@portico/translate'

/** The status of a Gateway in a namespace in which the controller has no rights. Deployed objects stay as they are. */
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
