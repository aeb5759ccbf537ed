import type { RpcId } from '../protocol.ts'
import type { CallAnswer } from './remote-waiter.ts'

/** A message to the worker that has the stream of a session; `reply` is the hub address of one call. */
export type StreamAsk =
  | { ask: 'attend'; reply: string; request: AwaitedRequest | null }
  | { ask: 'where'; reply: string }
  | { ask: 'leave'; reply: string }
  /** Has a reply only when the call is unknown, because the worker that had the stream before died. */
  | { ask: 'alive'; reply: string }
  /** Reports bytes that the waiter has processed. */
  | { ask: 'took'; reply: string; bytes: number }
  | { ask: 'stop' }

/** The parts of a request that identify the messages which belong to it. */
export interface AwaitedRequest {
  id: RpcId
  method: string
  token: RpcId | null
}

export type StreamReply = CallAnswer | { kind: 'ready'; endpoint: string }
