import type { BackendIdentity, CompiledBackend } from './compiled.ts'
import { type UpstreamCall, UpstreamError } from '@portico/http/client'

/** Returns a backend that fails every call with the reason why it cannot be used, for logs and traces. */
export function invalidBackend(identity: BackendIdentity, reason: string): CompiledBackend {
  const error = (): UpstreamError => new UpstreamError('invalid_backend', reason, true)
  return {
    ...identity,
    needsName: false,
    requestTimeoutMs: 0,
    hostname: null,
    send(_request, _context, handler) {
      handler.failed(error())
      return NOTHING
    },
    connect(_destination, _context, done) {
      done(error())
      return NOTHING
    },
    lease: (_context, done) => done(error()),
  }
}

const NOTHING: UpstreamCall = { cancel: () => {} }
