import { object } from '../../schema/kit.ts'
import type { Output } from '../../schema/kit.ts'
import { host } from '../../schema/fields/hosts.ts'
import { exactlyOneOf, onlyWith } from '../../schema/rules.ts'
import { port, string } from '../../schema/fields/values.ts'

const fields = {
  host: host().optional().describe('DNS name or address of the destination.'),
  port: port()
    .optional()
    .describe('Port of the destination. With `policies.tls` it is 443 when unset; otherwise it is required.'),
  unixPath: string(
    { min: 1, max: 107 },
    { pattern: /^\/[^\0]*$/, expected: 'the absolute path of a Unix socket, of at most 107 characters' },
  )
    .optional()
    .describe('Path of a Unix domain socket, instead of host and port.'),
}

const rules = [exactlyOneOf('host', 'unixPath'), onlyWith('port', 'host')] as const

/** SPEC 2.2 StaticBackend. Whoever has it together with its policies holds it to `port`, or TLS. */
export const staticBackend = object(fields, rules).describe('A fixed destination.')

export type StaticBackendConfig = Output<typeof staticBackend>
