import { McpCall } from '../../mcp/client/mcp-call.ts'
import type { Endpoint } from '../../mcp/engine/endpoint.ts'
import type { BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import { type UpstreamCall, UpstreamError } from '@portico/http/client'

/** Many servers of the Model Context Protocol as one. */
export function mcpBackend(identity: BackendIdentity, endpoint: Endpoint): CompiledBackend {
  return {
    ...identity,
    needsName: false,
    requestTimeoutMs: 0,
    hostname: null,
    send(request, context, handler) {
      const { rx } = context
      if (rx === undefined) {
        // Mirrored requests are refused, because tools would run twice.
        handler.failed(new UpstreamError('bad_response', 'MCP servers cannot be called without a request', true))
        return NOTHING
      }
      return new McpCall(endpoint, { rx, request, context, handler }).start()
    },
    connect(_destination, _context, done) {
      done(new UpstreamError('bad_response', 'MCP servers take no tunnel', true))
      return NOTHING
    },
  }
}

const NOTHING: UpstreamCall = { cancel() {} }
