import { awsCredentials, azureCredentials, gcpCredentials } from '../../../schema/fields/auth/cloud-credentials.ts'
import { definePolicy } from '../../../schema/define-policy.ts'
import { credentialLocation } from '../../../schema/fields/auth/credential-location.ts'
import { object } from '../../../schema/kit.ts'
import type { Output } from '../../../schema/kit.ts'
import { parseCredential, secretText } from '../../../schema/fields/auth/credential.ts'
import { orSecretEntry, secret } from '../../../schema/fields/references.ts'
import { atMostOneOf, exactlyOneOf } from '../../../schema/rules.ts'

export const auth = definePolicy({
  name: 'auth',
  section: 'backend',
  attach: ['route', 'backend', 'mcpTarget'],
  merge: 'replace',
  schema: object(
    {
      key: secretText({ max: 2_048 })
        .optional()
        .describe('The credential as a literal. Use `secretRef` to keep it out of the config.'),
      secretRef: orSecretEntry(
        secret('a credential of printable characters', parseCredential),
        'Authorization',
        (text) => parseCredential(text.replace(/^bearer /i, '').trimStart()),
      )
        .optional()
        .describe(
          'The credential: `{file: path}` or `{env: NAME}`; in a cluster a Secret with the key `Authorization`.',
        ),
      passthrough: object({})
        .optional()
        .describe(
          "Sends the client's credential to the backend, in its original location or in `location`. This has an effect only where a client authentication policy removed the credential.",
        ),
      aws: awsCredentials().optional().describe('Signs each request with AWS keys (Signature Version 4).'),
      azure: azureCredentials()
        .optional()
        .describe(
          'Sends an Azure token. With neither key, the identity comes from the environment: client secret, workload identity or managed identity.',
        ),
      gcp: gcpCredentials().optional().describe('Sends a Google token.'),
      location: credentialLocation()
        .optional()
        .describe(
          'Where the backend expects the credential. When unset: `Authorization: Bearer`, or with `passthrough` its original location. Not for `aws`, `azure` and `gcp`.',
        ),
    },
    [
      exactlyOneOf('key', 'secretRef', 'passthrough', 'aws', 'azure', 'gcp'),
      atMostOneOf('aws', 'azure', 'gcp', 'location'),
    ],
  ).describe(
    'Sends a credential to the backend, in place of the client header, parameter or cookie at the same location.',
  ),
})

export type BackendAuthConfig = Output<typeof auth.schema>
