import { HeaderBlock } from '@portico/http'
import { Reply } from '../../pipeline/context/reply.ts'
import type { RequestContext } from '../../pipeline/context/request-context.ts'

/** The HTTP methods that a document supports. */
export type Methods = readonly string[]

/** Builds a JSON response that any web page may read. */
export function jsonAnswer(status: number, value: unknown, methods: Methods): Reply {
  const body = Buffer.from(JSON.stringify(value))
  return new Reply(status, { headers: headersOf(methods, 'application/json'), body, reason: 'DirectResponse' })
}

/** Builds an error response in the format of RFC 6749 section 5.2. */
export function problemAnswer(rx: RequestContext, status: number, message: string, methods: Methods = []): Reply {
  rx.error = `mcp authentication: ${message}`
  const error = status >= 500 ? 'temporarily_unavailable' : 'invalid_request'
  const body = Buffer.from(JSON.stringify({ error, error_description: message }))
  const reason = status >= 500 ? 'UpstreamFailure' : 'InvalidRequest'
  return new Reply(status, { headers: headersOf(methods, 'application/json'), body, reason })
}

/** Returns the response to a preflight or an unsupported method; null when the method is supported. */
export function methodAnswer(rx: RequestContext, methods: Methods): Reply | null {
  if (methods.includes(rx.method)) return null
  if (rx.method === 'OPTIONS') return new Reply(204, { headers: headersOf(methods, null), reason: 'DirectResponse' })
  const reply = problemAnswer(rx, 405, 'method not allowed', methods)
  reply.headers.add('allow', [...methods, 'OPTIONS'].join(', '))
  return reply
}

function headersOf(methods: Methods, contentType: string | null): HeaderBlock {
  const headers = new HeaderBlock()
  if (contentType !== null) headers.add('content-type', contentType)
  // The content depends on the host and scheme of the request.
  headers.add('cache-control', 'no-store')
  headers.add('access-control-allow-origin', '*')
  headers.add('access-control-allow-methods', [...methods, 'OPTIONS'].filter((name) => name !== 'HEAD').join(', '))
  headers.add('access-control-allow-headers', 'content-type, mcp-protocol-version')
  return headers
}
