import { isObject, objectAt } from '@portico/http/json'
import type { RpcMessage } from '../../message.ts'
import { META } from '../../revisions.ts'
import type { TargetFailure } from '../../transport.ts'
import type { RemoteWaiter } from '../../remote/remote-waiter.ts'

/** The place of one session at a target. */
export interface Seat {
  request(message: RpcMessage, waiter: RemoteWaiter): void
  tell(message: RpcMessage, done: (failure: TargetFailure | null) => void): void
  listen(waiter: RemoteWaiter): void
  /** Nobody waits there any more. */
  forget(waiter: RemoteWaiter): void
  /** Milliseconds that never go back. */
  readonly usedAt: number
  /** Nobody waits for anything. */
  readonly isQuiet: boolean
  /** No request is under way. */
  readonly isIdle: boolean
}

/** Whether a program that knows nothing of the session can answer: requests of the newest revision say everything. */
export function standsAlone({ method, value }: RpcMessage): boolean {
  const { params } = value
  return method === 'initialize' || (isObject(params) && objectAt(params, '_meta')[META.version] !== undefined)
}

/** Whether a program answers it as soon as it runs. */
export function isGreeting({ method }: RpcMessage): boolean {
  return method === 'initialize' || method === 'server/discover'
}

export const STUCK: TargetFailure = { code: 'unavailable', message: 'it does not read what it is sent' }
export const TAKEN: TargetFailure = { code: 'unavailable', message: 'another request of the same id is under way' }
