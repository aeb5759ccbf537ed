import { definePolicy } from '../../../schema/define-policy.ts'
import { credentialLocation } from '../../../schema/fields/auth/credential-location.ts'
import { htpasswdLine, parseHtpasswd } from '../../../schema/fields/auth/htpasswd.ts'
import { list, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { orSecretEntry, secret } from '../../../schema/fields/references.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'
import { enumeration, string } from '../../../schema/fields/values.ts'

export const basicAuthentication = definePolicy({
  name: 'basicAuthentication',
  section: 'traffic',
  attach: ['listener', 'route'],
  merge: 'replace',
  phases: ['PreRouting', 'PostRouting'],
  traceKey: 'basicAuth',
  decides: true,
  schema: object(
    {
      mode: enumeration(['Strict', 'Optional', 'Shadow'])
        .prefault('Strict')
        .describe(
          '`Strict` requires valid credentials; `Optional` also allows requests without credentials. `Shadow` only reports what `Strict` would do.',
        ),
      realm: string(
        { min: 1, max: 256 },
        { pattern: /^[\x20-\x7e]+$/, expected: 'text of 1 to 256 printable characters' },
      )
        .prefault('Restricted')
        .describe('Realm of the challenge; some browsers show it in the password dialog.'),
      users: list(htpasswdLine().describe('A line `<username>:<hash>`.'), { min: 1, max: 256 })
        .optional()
        .describe('Users and the hashes of their passwords, as `htpasswd` prints them.'),
      secretRef: orSecretEntry(secret('a file of htpasswd lines', parseHtpasswd), '.htaccess', parseHtpasswd)
        .optional()
        .describe(
          'A whole htpasswd file: `{file: path}` or `{env: NAME}`; in a cluster a Secret with the key `.htaccess`.',
        ),
      location: credentialLocation()
        .optional()
        .describe('Where the credentials are; `Authorization: Basic` when unset.'),
    },
    [exactlyOneOf('users', 'secretRef')],
  ).describe('Requires a username and a password. Later policies read the username as `basicAuth.username`.'),
})

export type BasicAuthenticationConfig = Output<typeof basicAuthentication.schema>
