import type { RpcId } from '../protocol.ts'
import type { CallAnswer } from '../remote/remote-waiter.ts'

/** Returns the hub address of a waiting call, at the worker that has the call. */
export function callAddress(call: string): string {
  return `mcp-call:${call}`
}

/** A message to a waiting call; `reply` is the hub address of the request that resumes the call. */
export type CallAsk =
  | { ask: 'attend'; reply: string; leg: Leg }
  | { ask: 'leave'; reply: string }
  /** Checks that the call still exists: the hub reports that nobody took the message when it does not. */
  | { ask: 'alive'; reply: string }
  /** Reports bytes that the client has taken. */
  | { ask: 'took'; reply: string; bytes: number }

/** A request of the client that resumes a call. */
export interface Leg {
  /** The number of times that the call had asked for input. */
  round: number
  /** The keys of the questions that the request answers. */
  answered: string[]
  id: RpcId
  /** The progress token; null without one. */
  token: RpcId | null
}

export type CallReply =
  | CallAnswer
  /** The target's request ids of the answered questions, by key. */
  | { kind: 'ready'; ids: [key: string, id: RpcId][] }
  /** The call does not wait for this input. */
  | { kind: 'refused' }
  /** The call asks for more input; `closed` follows. */
  | { kind: 'asks'; round: number; questions: [key: string, text: string][] }
