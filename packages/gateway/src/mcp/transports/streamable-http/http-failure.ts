import type { HeaderBlock } from '@portico/http'
import { isObject, parseJsonObject, textAt } from '@portico/http/json'
import type { TargetFailure } from '../../transport.ts'

interface RefusedRequest {
  method: string
  status: number
  headers: HeaderBlock
  /** Null when the body was too large, or incomplete. */
  body: Buffer | null
  /** Whether the request had a session id of the target. */
  hasSession: boolean
}

/** Maps an HTTP error of a target to a failure. */
export function httpFailure({ method, status, headers, body, hasSession }: RefusedRequest): TargetFailure {
  const said = { status, headers, body: body ?? Buffer.alloc(0) }
  const message = `it answered HTTP ${status}${reasonIn(body)}`
  // Redirects are neither followed nor forwarded: they would lead the client past the gateway.
  if (status < 400) return { code: 'bad_answer', message, status }
  if (hasSession && (status === 404 || deniesSession(status, body))) return { code: 'session_lost', message, ...said }
  if (method === 'GET' && status === 405) return { code: 'unsupported', message, ...said }
  return { code: 'refused', message, ...said }
}

/** Whether a 400 response denies the session: servers built from early examples send 400 where the protocol says 404. */
function deniesSession(status: number, body: Buffer | null): boolean {
  if (status !== 400 || body === null) return false
  const error = parseJsonObject(body.toString('utf8'))?.error
  return isObject(error) && error.code === -32000 && /session/i.test(textAt(error, 'message') ?? '')
}

/** Returns the message of the JSON-RPC error in the body, for people; empty without one. */
function reasonIn(body: Buffer | null): string {
  if (body === null || body.length === 0) return ''
  const error = parseJsonObject(body.toString('utf8'))?.error
  const text = isObject(error) ? error.message : undefined
  return typeof text === 'string' && text !== '' ? `: ${text.slice(0, 256)}` : ''
}
