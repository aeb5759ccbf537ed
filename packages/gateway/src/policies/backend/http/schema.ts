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
        'Protocol version to speak. Unset: HTTP/2 for gRPC; otherwise the version of the client on plaintext listeners, and HTTP/1.1 on TLS listeners.',
      ),
    requestTimeout: duration({ min: '1ms' })
      .optional()
      .describe(
        'Longest time of one try, from the call to the head of the response. Unset: 30 minutes from the end of the request; no limit for models, agents and MCP servers.',
      ),
  }).describe('Chooses the version of HTTP, and limits how long one try takes.'),
})

export type BackendHttpConfig = Output<typeof http.schema>
