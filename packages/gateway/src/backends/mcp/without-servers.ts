import { INTERNAL_ERROR, rpcError } from '../../mcp/protocol.ts'
import type { BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import { type UpstreamCall, UpstreamError } from '@portico/http/client'

/** An MCP backend whose selectors match no server: every request gets 503 and a JSON-RPC error. */
export function mcpBackendWithoutServers(identity: BackendIdentity): CompiledBackend {
  return {
    ...identity,
    needsName: false,
    requestTimeoutMs: 0,
    hostname: null,
    tellFailure: ({ failure, status }) => ({
      headers: [['content-type', 'application/json']],
      body: rpcError(null, INTERNAL_ERROR, failure ?? `HTTP ${status}`).bytes,
    }),
    send(_request, _context, handler) {
      handler.failed(noServers())
      return NOTHING
    },
    connect(_destination, _context, done) {
      done(noServers())
      return NOTHING
    },
  }
}

function noServers(): UpstreamError {
  return new UpstreamError('no_targets', 'backend has no MCP servers: its selectors match no Service', true)
}

const NOTHING: UpstreamCall = { cancel() {} }
