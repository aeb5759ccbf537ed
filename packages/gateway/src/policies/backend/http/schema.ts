import { definePolicy } from '../../../schema/define-policy.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { duration, enumeration } from '../../../schema/fields/values.ts'

export const http = definePolicy({
  name: 'http',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: object({
    version: enumeration(['HTTP1', 'HTTP2'])
      .optional()
      .describe(
        'HTTP version of requests to the backend. When unset: HTTP/2 for gRPC; otherwise the version of the client on plaintext listeners, and HTTP/1.1 on TLS listeners.',
      ),
    requestTimeout: duration({ min: '1ms' })
      .optional()
      .describe(
        'Timeout of one attempt, from its start to the response headers. When unset: 30 minutes from the end of the request; no limit for models, agents and MCP servers.',
      ),
  }).describe('Sets the HTTP version, and limits the duration of one attempt.'),
})

export type BackendHttpConfig = Output<typeof http.schema>
