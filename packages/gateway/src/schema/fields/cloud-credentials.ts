import { secretValue } from './credential.ts'
import { fileOnly, localForm, object, Refusal } from '../kit.ts'
import type { Schema } from '../kit.ts'
import { objectReference, secret } from './references.ts'
import { atMostOneOf } from '../rules.ts'
import { enumeration, string } from './values.ts'

/** Who the gateway is in the clouds. */

export function awsCredentials() {
  return object({
    secretRef: localForm(
      keysOf({
        accessKey: secretValue({ max: 256 }).describe('Access key id.'),
        secretKey: secretValue({ max: 1_024 }).describe('Secret access key.'),
        sessionToken: secretValue({ max: 8_192 }).optional().describe('Token of keys that end.'),
      }),
      objectReference(),
    )
      .optional()
      .describe(
        'The keys; in a cluster a Secret with `accessKey`, `secretKey` and perhaps `sessionToken`. Without it they are looked for as the SDK does: variables, profiles, web identity, containers, instances.',
      ),
    region: fileOnly(string({ min: 1, max: 64 }, { pattern: /^[a-z0-9-]+$/, expected: 'a region such as `eu-west-1`' }))
      .optional()
      .describe('The region to sign for; when unset that of the backend, of its host, or of `AWS_REGION`.'),
    service: fileOnly(
      string({ min: 1, max: 64 }, { pattern: /^[a-z0-9-]+$/, expected: 'the name of a service such as `execute-api`' }),
    )
      .optional()
      .describe('The service to sign for; when unset that of the backend or of its host, else `bedrock`.'),
  })
}

export function azureCredentials() {
  return object(
    {
      secretRef: localForm(
        keysOf({
          clientID: secretValue({ max: 256 }).describe('Id of the application.'),
          tenantID: secretValue({ max: 256 }).describe('Id or name of the tenant.'),
          clientSecret: secretValue({ max: 1_024 }).describe('Secret of the application.'),
        }),
        objectReference(),
      )
        .optional()
        .describe('An application; in a cluster a Secret with `clientID`, `tenantID` and `clientSecret`.'),
      managedIdentity: object({
        clientId: string({ max: 256 }).describe('Client id of the identity, or empty.'),
        objectId: string({ max: 256 }).describe('Object id of the identity, or empty.'),
        resourceId: string({ max: 1_024 }).describe('Resource id of the identity, or empty.'),
      })
        .optional()
        .describe('An identity that was given to the machine: the first id that is not empty says which.'),
    },
    [atMostOneOf('secretRef', 'managedIdentity')],
  )
}

export function gcpCredentials() {
  return object({
    type: enumeration(['AccessToken', 'IdToken'])
      .prefault('AccessToken')
      .describe('`AccessToken` for APIs of Google; `IdToken` for services of Cloud Run and the like.'),
    secretRef: localForm(secret(googleExpected, parseGoogleCredentials), objectReference())
      .optional()
      .describe(
        'The JSON of a service account or of other credentials: `{file: path}` or `{env: NAME}`; in a cluster a Secret with the key `credentials.json`. Without it they are looked for as the SDK does.',
      ),
    audience: string(
      { min: 1, max: 256 },
      { pattern: /^[\x21-\x25\x27-\x7e]+$/, expected: 'text of 1 to 256 printable characters' },
    )
      .optional()
      .describe('Whom an ID token is for; `https://` and the host of the backend when unset. Only with `IdToken`.'),
  })
}

const googleExpected =
  'JSON with a `type` of `service_account`, `authorized_user`, `impersonated_service_account` or `external_account`'

const googleTypes = new Set<unknown>([
  'service_account',
  'authorized_user',
  'impersonated_service_account',
  'external_account',
])

/** The text stays as it is: who prints a config hides texts whole. */
export function parseGoogleCredentials(text: string): string | Refusal {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return new Refusal('bad_format', { detail: 'something else than JSON' })
  }
  const type = typeof json === 'object' && json !== null && 'type' in json ? json.type : undefined
  if (!googleTypes.has(type)) return new Refusal('bad_format', { detail: 'another `type`, or none' })
  return text.length <= 65_536 ? text : new Refusal('out_of_range', { detail: 'a longer text' })
}

function keysOf<Shape extends Record<string, Schema>>(shape: Shape) {
  return object({ data: object(shape).describe('Each in place, or as `{file: path}` or `{env: NAME}`.') })
}
