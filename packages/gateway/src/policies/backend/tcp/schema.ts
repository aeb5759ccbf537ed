import { definePolicy } from '../../../schema/define-policy.ts'
import { keepalive } from '../../../schema/fields/keepalive.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { duration } from '../../../schema/fields/values.ts'

export const tcp = definePolicy({
  name: 'tcp',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: object({
    keepalive: keepalive().optional().describe('TCP keepalive: probes that detect dead connections.'),
    connectTimeout: duration({ min: '100ms' })
      .optional()
      .describe('Timeout of connecting, including the TLS handshake; `config.backend.connectTimeout` when unset.'),
  }).describe('Limits the time to connect to the backend, and detects dead connections.'),
})

export type BackendTcpConfig = Output<typeof tcp.schema>
