import { isObject, objectAt } from '@portico/http/json'
import { type RpcMessage, META } from '../../protocol.ts'
import type { TargetFailure } from '../../transport.ts'
import type { RemoteWaiter } from '../../remote/remote-waiter.ts'

/** The link of one session to a stdio target, in the main thread. */
export interface TargetSession {
  request(message: RpcMessage, waiter: RemoteWaiter): void
  tell(message: RpcMessage, done: (failure: TargetFailure | null) => void): void
  listen(waiter: RemoteWaiter): void
  /** Removes a waiter that has left. */
  forget(waiter: RemoteWaiter): void
  /** The time of the last use, in milliseconds of a monotonic clock. */
  readonly usedAt: number
  /** Whether there are neither running requests nor listeners. */
  readonly isQuiet: boolean
  /** Whether no request is running. */
  readonly isIdle: boolean
}

/** Whether a process without the session can answer: `initialize`, and requests of revisions without sessions. */
export function isSelfContained({ method, value }: RpcMessage): boolean {
  const { params } = value
  return method === 'initialize' || (isObject(params) && objectAt(params, '_meta')[META.version] !== undefined)
}

/** Whether a process answers the request as soon as it runs. */
export function isGreeting({ method }: RpcMessage): boolean {
  return method === 'initialize' || method === 'server/discover'
}

export const STUCK: TargetFailure = { code: 'unavailable', message: 'it does not read its input' }
export const TAKEN: TargetFailure = { code: 'unavailable', message: 'another request with the same id is running' }
