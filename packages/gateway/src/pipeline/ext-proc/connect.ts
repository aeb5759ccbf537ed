import { type GrpcOptions, GrpcStream } from '@portico/http/grpc'
import type { Callouts } from '../callouts/callouts.ts'
import type { Env } from '../context/step.ts'
import type { ProcessingSettings } from './processing-settings.ts'

/** The code of the messages, loaded with the first stream. */
let method: typeof import('./process-method.ts').processMethod | null = null

/** Returns the function that opens a stream to the processor behind `callouts`. */
export function connectProcessor(callouts: Callouts, env: Env): ProcessingSettings['connect'] {
  const { authority } = callouts
  const maxMessageBytes = env.maxBufferBytes + ROOM
  return (rx, handler) => {
    const options: GrpcOptions = {
      send: (outgoing, answer) => callouts.send(rx, outgoing, answer),
      authority,
      deadlines: env.deadlines,
      maxMessageBytes,
    }
    if (method !== null) return new GrpcStream(method, options, handler)
    return import('./process-method.ts').then(({ processMethod }) => {
      method = processMethod
      return new GrpcStream(processMethod, options, handler)
    })
  }
}

/** Bytes for headers and the frame, in addition to the largest body that may be buffered. */
const ROOM = 4_194_304
