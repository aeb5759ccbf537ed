import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { byteSize, duration, integer } from '../../../schema/fields/values.ts'

const largestWindow = 2 ** 31 - 1

export const http = definePolicy({
  name: 'http',
  section: 'frontend',
  attach: ['gateway'],
  merge: 'replace',
  always: true,
  schema: object({
    maxBufferSize: byteSize()
      .optional()
      .describe(
        'Largest body that is buffered. When unset: 2 MiB for policies that read bodies, 32 MiB for model calls.',
      ),
    http1MaxHeaders: integer({ min: 1, max: 4_096 })
      .prefault(100)
      .describe('Largest number of header lines in an HTTP/1 request.'),
    http1IdleTimeout: duration({ min: '1s' })
      .prefault('10m')
      .describe('Closes an HTTP/1 connection that has sent no complete request head for this long.'),
    http2WindowSize: byteSize({ max: largestWindow })
      .optional()
      .describe(
        'Initial flow-control window of an HTTP/2 stream. When unset: 256 KiB, and 1 MiB once the backend has accepted the first 512 KiB. A stream buffers at most this much of a request that its backend does not accept.',
      ),
    http2ConnectionWindowSize: byteSize({ min: 65_535, max: largestWindow })
      .optional()
      .describe(
        'Initial flow-control window of an HTTP/2 connection; 4 MiB when unset. It limits the bytes in flight of all streams together. The window is restored as data arrives, so `http2WindowSize` limits memory, not this field.',
      ),
    http2FrameSize: byteSize({ min: 16_384, max: 2 ** 24 - 1 })
      .prefault('16kb')
      .describe('Largest HTTP/2 frame accepted.'),
    http2MaxHeaderSize: byteSize().prefault('16Ki').describe('Largest decoded header block of an HTTP/2 request.'),
    http2KeepaliveInterval: duration({ min: '1s' })
      .optional()
      .describe('Time between HTTP/2 pings; no pings when unset.'),
    http2KeepaliveTimeout: duration({ min: '1s' })
      .optional()
      .describe('Closes an HTTP/2 connection whose ping is not answered for this long; 20s when unset.'),
    maxConnectionDuration: duration({ min: '1s' })
      .optional()
      .describe('Lifetime of a connection; after it, the connection is closed when its requests have finished.'),
  }).describe('Limits and timeouts of HTTP connections from clients.'),
})

export type FrontendHttpConfig = Output<typeof http.schema>
