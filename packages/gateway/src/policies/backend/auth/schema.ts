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
        .describe('The credential itself; `secretRef` keeps it out of the config.'),
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
          'Restores what client authentication took off the request, where it stood; nothing changes when there is nothing. With `location` the credential goes there.',
        ),
      aws: awsCredentials().optional().describe('Signs each request with keys of AWS (Signature Version 4).'),
      azure: azureCredentials()
        .optional()
        .describe(
          'A token of Azure; with neither key the environment says who the gateway is: client secret, workload identity, managed identity.',
        ),
      gcp: gcpCredentials().optional().describe('A token of Google.'),
      location: credentialLocation()
        .optional()
        .describe(
          'Where the backend expects the credential. When unset: `Authorization: Bearer`, or with `passthrough` where it stood. Clouds have a place of their own.',
        ),
    },
    [
      exactlyOneOf('key', 'secretRef', 'passthrough', 'aws', 'azure', 'gcp'),
      atMostOneOf('aws', 'location'),
      atMostOneOf('azure', 'location'),
      atMostOneOf('gcp', 'location'),
    ],
  ).describe('Shows a credential to the backend, in place of what the client sent there.'),
})

export type BackendAuthConfig = Output<typeof auth.schema>
