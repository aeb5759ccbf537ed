import { definePolicy } from '../../../schema/define-policy.ts'
import { credentialLocation } from '../../../schema/credential-location.ts'
import { localForm, object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { parseCredential, secretText } from '../../../schema/credential.ts'
import { objectReference, secret } from '../../../schema/references.ts'
import { exactlyOneOf } from '../../../schema/rules.ts'

export const auth = definePolicy({
  name: 'auth',
  section: 'backend',
  attach: ['route', 'backend'],
  merge: 'replace',
  schema: object(
    {
      key: secretText({ max: 2_048 })
        .optional()
        .describe('The credential itself; `secretRef` keeps it out of the config.'),
      secretRef: localForm(secret('a credential of printable characters', parseCredential), objectReference())
        .optional()
        .describe(
          'The credential: `{file: path}` or `{env: NAME}`; in a cluster a Secret with the key `Authorization`.',
        ),
      passthrough: object({})
        .optional()
        .describe(
          'The credential that client authentication took off the request; nothing changes when there is none.',
        ),
      location: credentialLocation()
        .optional()
        .describe('Where the backend expects the credential; `Authorization: Bearer` when unset.'),
    },
    [exactlyOneOf('key', 'secretRef', 'passthrough')],
  ).describe('Shows a credential to the backend, in place of what the client sent there.'),
})

export type BackendAuthConfig = Output<typeof auth.schema>
