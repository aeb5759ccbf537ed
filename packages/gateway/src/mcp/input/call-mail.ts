import type { RpcId } from '../message.ts'
import type { CallAnswer } from '../remote/remote-waiter.ts'

/** Where the worker that has a waiting call takes its mail. */
export function callAddress(call: string): string {
  return `mcp-call:${call}`
}

/** What is asked of it; `reply` is the address of who goes on with the call. */
export type CallAsk =
  | { ask: 'attend'; reply: string; leg: Leg }
  | { ask: 'leave'; reply: string }
  /** Answered by nobody: a call that is not there does not take it. */
  | { ask: 'alive'; reply: string }
  /** So many bytes have found their way. */
  | { ask: 'took'; reply: string; bytes: number }

/** A request of the client that goes on with a call. */
export interface Leg {
  /** How often the call had asked for something. */
  round: number
  /** Keys of the questions that it answers. */
  answered: string[]
  id: RpcId
  /** For progress; null when the client wants to hear of none. */
  token: RpcId | null
}

export type CallReply =
  | CallAnswer
  /** What the target calls the questions that were answered, by their keys. */
  | { kind: 'ready'; ids: [key: string, id: RpcId][] }
  /** It waits for nothing of the kind. */
  | { kind: 'refused' }
  /** It asks for more; `closed` follows. */
  | { kind: 'asks'; round: number; questions: [key: string, text: string][] }
