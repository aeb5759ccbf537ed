import type { BackendIdentity, CompiledBackend } from '../../pipeline/compiled/compiled.ts'
import { tracedSend } from '../../pipeline/traced/traced-send.ts'
import { chooseVersion, type ConnectionSettings, type UpstreamCall, UpstreamError } from '@portico/http/client'
import type { Picker } from './picker.ts'
import { PoolCall, type PoolParts } from './pool-call.ts'

interface InferencePoolOptions extends Omit<PoolParts, 'name' | 'version' | 'picker' | 'offered'> {
  /** Null when the gateway balances the requests itself. */
  picker: Picker | null
  settings: ConnectionSettings
}

/** A pool of model servers: its picker, if it has one, chooses the server of each request. */
export function inferencePoolBackend(
  identity: BackendIdentity,
  { settings, picker, ...parts }: InferencePoolOptions,
): CompiledBackend {
  const { name } = identity
  const pool = picker === null ? null : { ...parts, picker, name, version: settings.version, offered: null }
  return {
    ...identity,
    needsName: false,
    requestTimeoutMs: settings.requestTimeoutMs,
    limitsHead: settings.requestTimeoutMs === 0,
    hostname: null,
    send: tracedSend(identity, (request, context, handler) => {
      const { rx } = context
      // Only requests of clients are worth the picker's attention: calls of the gateway itself are balanced.
      if (rx !== undefined && pool !== null) return new PoolCall(pool, rx, request, context, handler).start()
      return parts.destination.send(request, chooseVersion(settings.version, request, context), context, handler)
    }),
    connect(_destination, _context, done) {
      done(new UpstreamError('bad_response', 'an inference pool does not support tunnels', true))
      return NOTHING
    },
  }
}

const NOTHING: UpstreamCall = { cancel() {} }
