import { parsePostgresUrl } from '../../formats/store-url.ts'
import { object } from '../../schema/kit.ts'
import { secretValue } from '../../schema/fields/auth/credential.ts'
import { pemFile } from '../../schema/fields/references.ts'
import { duration, string, textual } from '../../schema/fields/values.ts'

export const postgres = object({
  url: textual(parsePostgresUrl, {
    type: 'string',
    expected:
      '`postgres://user@host:port/database`, with `?sslmode=verify-full` or `?sslmode=disable` at the end, and without a password',
    json: {
      type: 'string',
      minLength: 16,
      maxLength: 512,
      pattern: '^postgres(ql)?://[^:/?#@]+@[^/?#@]+/[^/?#@]+(\\?sslmode=(disable|verify-full))?$',
    },
  }).describe(
    'The database: `postgres://user@host:port/database`. Connections use TLS and check the name of the server; `?sslmode=disable` turns TLS off.',
  ),
  password: secretValue({ max: 1_024 }).optional().describe('Password of the user.'),
  ca: pemFile('authorities')
    .optional()
    .describe('File with the certificates to trust; those of the system when unset.'),
  schema: string(
    { min: 1, max: 63 },
    { pattern: /^[a-z_][a-z0-9_]*$/, expected: 'lower-case letters, digits and `_`, and no digit first' },
  )
    .prefault('portico')
    .describe('Schema with the tables. Gateways share them when server, database and schema are the same.'),
  timeout: duration({ min: '100ms', max: '10s' })
    .prefault('2s')
    .describe(
      'The longest time that the gateway waits for a connection, and for a statement. No request waits for them.',
    ),
})
