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
        'Largest body that is buffered. Bodies are buffered for policies that read them, 2 MiB when unset, and for model calls, 32 MiB when unset.',
      ),
    http1MaxHeaders: integer({ min: 1, max: 4_096 }).prefault(100).describe('Most header lines of an HTTP/1 request.'),
    http1IdleTimeout: duration({ min: '1s' })
      .prefault('10m')
      .describe('Closes an HTTP/1 connection that has sent no complete request head for this long.'),
    http2WindowSize: byteSize({ max: largestWindow })
      .optional()
      .describe(
        'Initial flow-control window of an HTTP/2 stream; 256 KiB when unset, and 1 MiB once the backend has taken the first half MiB. One stream holds at most this much of a request that its backend does not take.',
      ),
    http2ConnectionWindowSize: byteSize({ min: 65_535, max: largestWindow })
      .optional()
      .describe(
        'Initial flow-control window of an HTTP/2 connection; 4 MiB when unset. Bounds what a client has on its way for all streams together; it is given back as data comes, so `http2WindowSize` bounds memory.',
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
      .describe('After this time a connection is closed gracefully, once its requests have finished.'),
  }).describe('Limits and times of HTTP with clients.'),
})

export type FrontendHttpConfig = Output<typeof http.schema>
