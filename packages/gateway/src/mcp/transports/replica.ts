import { contextWith } from '../../pipeline/context/context-with.ts'
import type { EndpointWatcher, UpstreamError } from '@portico/http/client'
import type { Caller } from '../transport.ts'

/** A text that only one of several replicas knows, printed with its address: `10.0.0.7:8080 <text>`. */
interface AtReplica {
  /** The address of the replica; empty when it is unknown or does not matter. */
  endpoint: string
  text: string
}

/** Prints address and text; neither contains a space. */
export function printAtReplica({ endpoint, text }: AtReplica): string {
  return `${endpoint} ${text}`
}

export function readAtReplica(printed: string): AtReplica {
  const space = printed.indexOf(' ')
  return space < 0
    ? { endpoint: '', text: printed }
    : { endpoint: printed.slice(0, space), text: printed.slice(space + 1) }
}

/** Returns a caller that is bound to the replica at this address; an empty address binds it to none. */
export function toReplica(caller: Caller, endpoint: string): Caller {
  if (endpoint === '') return caller
  return { ...caller, context: contextWith(caller.context, { belongsTo: { endpoint, isOnly: true } }) }
}

/** Returns a caller that reports the replica it is connected to. */
export function watchingReplica(caller: Caller, connected: (endpoint: string) => void): Caller {
  const { context } = caller
  const connectingTo: EndpointWatcher['connectingTo'] = (endpoint, scheme) => {
    connected(endpoint)
    context.connectingTo(endpoint, scheme)
  }
  return { ...caller, context: contextWith(context, { connectingTo }) }
}

/** Whether the replica, and with it its state, is gone. */
export function isReplicaGone({ code }: UpstreamError): boolean {
  return code === 'endpoint_gone' || code === 'connect_failed'
}
