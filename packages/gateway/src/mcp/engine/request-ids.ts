import { withId } from '../edit.ts'
import type { RpcId, RpcMessage } from '../message.ts'

/**
 * Requests of targets to the client: several targets may use the same id, so it says whose it is until the client's
 * answer has come back.
 */
export function outwardRequest(message: RpcMessage, target: string): RpcMessage {
  const { id } = message
  return withId(message, `${MARK}${target}:${typeof id === 'number' ? 'n' : 's'}:${id}`)
}

/** Whose request an answer of the client is for, and what that target called it; null when it is nobody's. */
export function answeredRequest(id: RpcId | null): { target: string; id: RpcId } | null {
  if (typeof id !== 'string' || !id.startsWith(MARK)) return null
  const found = /^([^:]+):([ns]):(.*)$/s.exec(id.slice(MARK.length))
  if (found === null) return null
  const [, target = '', kind, text = ''] = found
  if (kind === 's') return { target, id: text }
  const number = Number(text)
  return Number.isFinite(number) && text !== '' ? { target, id: number } : null
}

const MARK = 'portico:'
