import type { RpcId } from '../message.ts'
import type { CallAnswer } from './remote-waiter.ts'

/** What workers ask the one that has the stream of a session; `reply` is the address of one call. */
export type StreamAsk =
  | { ask: 'attend'; reply: string; request: AwaitedRequest | null }
  | { ask: 'where'; reply: string }
  | { ask: 'leave'; reply: string }
  /** Answered only when the call is not known: whoever had the stream before has died. */
  | { ask: 'alive'; reply: string }
  /** So many bytes have found their way. */
  | { ask: 'took'; reply: string; bytes: number }
  | { ask: 'stop' }

/** As much of a request as it takes to know what it brings. */
export interface AwaitedRequest {
  id: RpcId
  method: string
  token: RpcId | null
}

export type StreamReply = CallAnswer | { kind: 'ready'; endpoint: string }
