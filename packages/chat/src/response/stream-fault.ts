import { STREAM_BROKEN } from './chat-error.ts'
import type { ChatError } from '../middle.ts'

/** How a stream of a provider ended early, as records name it. */
export type StreamFaultCode = 'connection_lost' | 'stream_incomplete' | 'stream_unreadable' | 'stream_error'

/** A fault of a provider after its stream had begun. */
export interface StreamFault {
  code: StreamFaultCode
  error: ChatError
}

/**
 * A fault of a stream. `code` tells how the gateway detected it; an error sent by the provider itself is a
 * `stream_error`.
 */
export function streamFault(error: ChatError, code: Exclude<StreamFaultCode, 'stream_error'>): StreamFault {
  return { code: error.code === STREAM_BROKEN ? code : 'stream_error', error }
}
