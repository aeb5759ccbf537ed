import { parseRedisUrl } from '../../formats/store-url.ts'
import { object } from '../../schema/kit.ts'
import { secretValue } from '../../schema/fields/auth/credential.ts'
import { pemFile } from '../../schema/fields/references.ts'
import { duration, enumeration, string, textual } from '../../schema/fields/values.ts'

export const redis = object({
  url: textual(parseRedisUrl, {
    type: 'string',
    expected: '`redis://host:port`, `redis://host:port/database`, or `rediss://` for TLS, without a password',
    json: { type: 'string', minLength: 9, maxLength: 512, pattern: '^rediss?://[^@]+$' },
  }).describe(
    'The server: `redis://host:port` or, with TLS, `rediss://host:port`. A path is the number of the database.',
  ),
  username: string({ min: 1, max: 256 })
    .optional()
    .describe('User of the server; the default user of the server when unset.'),
  password: secretValue({ max: 1_024 }).optional().describe('Password of the user.'),
  ca: pemFile('authorities')
    .optional()
    .describe('File with the certificates to trust with `rediss://`; those of the system when unset.'),
  prefix: string(
    { min: 1, max: 64 },
    { pattern: /^[A-Za-z0-9._:-]+$/, expected: 'letters, digits, `.`, `_`, `:` and `-`' },
  )
    .prefault('portico')
    .describe('Begins the names of all keys. Gateways share budgets when server, database and prefix are the same.'),
  timeout: duration({ min: '1ms', max: '10s' })
    .prefault('50ms')
    .describe('The longest time that a request waits for an answer.'),
  failureMode: enumeration(['Closed', 'Open'])
    .prefault('Closed')
    .describe(
      'While the server does not answer, calls with a budget get 503 (`Closed`), or pass and are counted later (`Open`).',
    ),
})
