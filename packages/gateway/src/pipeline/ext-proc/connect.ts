import { type GrpcOptions, GrpcStream } from '@portico/http/grpc'
import type { Callouts } from '../callouts/callouts.ts'
import type { Env } from '../context/step.ts'
import type { ProcessingSettings } from './processing-settings.ts'

/** Returns the function that opens a stream to the processor behind `callouts`. */
export function connectProcessor(callouts: Callouts, env: Env): ProcessingSettings['connect'] {
  return async (rx, handler) => {
    const { processMethod } = await import('./process-method.ts')
    const options: GrpcOptions = {
      send: (outgoing, answer) => callouts.send(rx, outgoing, answer),
      authority: callouts.authority,
      deadlines: env.deadlines,
      maxMessageBytes: env.maxBufferBytes + ROOM,
    }
    return new GrpcStream(processMethod, options, handler)
  }
}

/** Bytes for headers and the frame, in addition to the largest body that may be buffered. */
const ROOM = 4_194_304
