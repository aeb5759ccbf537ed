import { contextWith } from '../../pipeline/context/context-with.ts'
import type { EndpointWatcher, UpstreamError } from '@portico/http/client'
import type { Caller } from '../transport.ts'

/** What is said of one of several servers that stand for one another: `10.0.0.7:8080 <what only that one knows>`. */
export interface AtReplica {
  /** Empty where it is not known, or does not matter. */
  endpoint: string
  text: string
}

/** Neither addresses nor what they are asked for hold a space. */
export function printAtReplica({ endpoint, text }: AtReplica): string {
  return `${endpoint} ${text}`
}

export function readAtReplica(printed: string): AtReplica {
  const space = printed.indexOf(' ')
  return space < 0
    ? { endpoint: '', text: printed }
    : { endpoint: printed.slice(0, space), text: printed.slice(space + 1) }
}

/** A caller that speaks to this replica and to no other; without one to any. */
export function toReplica(caller: Caller, endpoint: string): Caller {
  if (endpoint === '') return caller
  return { ...caller, context: contextWith(caller.context, { belongsTo: { endpoint, isOnly: true } }) }
}

/** A caller of whom is told to which replica it speaks. */
export function watchingReplica(caller: Caller, connected: (endpoint: string) => void): Caller {
  const { context } = caller
  const connectingTo: EndpointWatcher['connectingTo'] = (endpoint, scheme) => {
    connected(endpoint)
    context.connectingTo(endpoint, scheme)
  }
  return { ...caller, context: contextWith(context, { connectingTo }) }
}

/** Whether the replica is not there any more, and what it knew neither. */
export function isReplicaGone({ code }: UpstreamError): boolean {
  return code === 'endpoint_gone' || code === 'connect_failed'
}
