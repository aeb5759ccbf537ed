import type { HeaderBlock } from '@portico/http'
import { isObject, parseJsonObject, textAt } from '@portico/http/json'
import type { TargetFailure } from '../../transport.ts'

export interface RefusedRequest {
  method: string
  status: number
  headers: HeaderBlock
  /** Null when it was too large, or broke off. */
  body: Buffer | null
  /** The request named a session of the target. */
  hasSession: boolean
}

/** What an HTTP error of a target means. */
export function httpFailure({ method, status, headers, body, hasSession }: RefusedRequest): TargetFailure {
  const said = { status, headers, body: body ?? Buffer.alloc(0) }
  const message = `it answered HTTP ${status}${reasonIn(body)}`
  // Redirects are not followed, and mean nothing to the client: they would lead it past the gateway.
  if (status < 400) return { code: 'bad_answer', message }
  if (hasSession && (status === 404 || deniesSession(status, body))) return { code: 'session_lost', message, ...said }
  if (method === 'GET' && status === 405) return { code: 'unsupported', message, ...said }
  return { code: 'refused', message, ...said }
}

/** Servers made after the early examples answer 400 where the protocol wants 404. */
function deniesSession(status: number, body: Buffer | null): boolean {
  if (status !== 400 || body === null) return false
  const error = parseJsonObject(body.toString('utf8'))?.error
  return isObject(error) && error.code === -32000 && /session/i.test(textAt(error, 'message') ?? '')
}

/** What a JSON-RPC error says, for people. */
function reasonIn(body: Buffer | null): string {
  if (body === null || body.length === 0) return ''
  const error = parseJsonObject(body.toString('utf8'))?.error
  const text = isObject(error) ? error.message : undefined
  return typeof text === 'string' && text !== '' ? `: ${text.slice(0, 256)}` : ''
}
