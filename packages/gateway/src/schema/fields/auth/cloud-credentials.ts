import { secretValue } from './credential.ts'
import { fieldOf, localForm, object, Refusal } from '../../kit.ts'
import type { Output, Schema } from '../../kit.ts'
import { entryOf, objectReference, orSecretEntry, secret, withinSecret } from '../references.ts'
import { atMostOneOf } from '../../rules.ts'
import { enumeration, string } from '../values.ts'

/** The gateway's own credentials in clouds. */

export function awsCredentials() {
  return object({
    secretRef: keysOf({
      accessKey: secretValue({ max: 256 }).describe('Access key id.'),
      secretKey: secretValue({ max: 1_024 }).describe('Secret access key.'),
      sessionToken: secretValue({ max: 8_192 }).optional().describe('Session token of temporary keys.'),
    })
      .optional()
      .describe(
        'The keys; in a cluster, a Secret with `accessKey`, `secretKey` and optionally `sessionToken`. When unset, keys are searched for as in the AWS SDKs: environment variables, profiles, web identity, containers, instances.',
      ),
    region: string({ min: 1, max: 64 }, { pattern: /^[a-z0-9-]+$/, expected: 'a region such as `eu-west-1`' })
      .optional()
      .describe(
        'Region of the signature. When unset: the region of the backend, the region in its host name, or `AWS_REGION`.',
      ),
    service: string(
      { min: 1, max: 64 },
      { pattern: /^[a-z0-9-]+$/, expected: 'the name of a service such as `execute-api`' },
    )
      .optional()
      .describe(
        'Service of the signature. When unset: the service of the backend, the service in its host name, or `bedrock`.',
      ),
  })
}

export function azureCredentials() {
  return object(
    {
      secretRef: keysOf({
        clientID: secretValue({ max: 256 }).describe('Client id of the application.'),
        tenantID: secretValue({ max: 256 }).describe('Id or name of the tenant.'),
        clientSecret: secretValue({ max: 1_024 }).describe('Secret of the application.'),
      })
        .optional()
        .describe('An Entra application; in a cluster, a Secret with `clientID`, `tenantID` and `clientSecret`.'),
      managedIdentity: object({
        clientId: string({ max: 256 }).describe('Client id of the managed identity, or empty.'),
        objectId: string({ max: 256 }).describe('Object id of the managed identity, or empty.'),
        resourceId: string({ max: 1_024 }).describe('Resource id of the managed identity, or empty.'),
      })
        .optional()
        .describe('A managed identity of the machine, selected by the first id that is not empty.'),
    },
    [atMostOneOf('secretRef', 'managedIdentity')],
  )
}

export function gcpCredentials() {
  return object({
    type: enumeration(['AccessToken', 'IdToken'])
      .prefault('AccessToken')
      .describe('`AccessToken` for Google APIs; `IdToken` for your own services, for example on Cloud Run.'),
    secretRef: orSecretEntry(secret(googleExpected, parseGoogleCredentials), 'credentials.json', parseGoogleCredentials)
      .optional()
      .describe(
        'Credentials as JSON, such as a service account: `{file: path}` or `{env: NAME}`; in a cluster, a Secret with the key `credentials.json`. When unset, credentials are searched for as in the Google SDKs.',
      ),
    audience: string(
      { min: 1, max: 256 },
      { pattern: /^[\x21-\x25\x27-\x7e]+$/, expected: 'text of 1 to 256 printable characters' },
    )
      .optional()
      .describe(
        'Audience of an ID token; `https://` followed by the host of the backend when unset. Only with `IdToken`.',
      ),
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

/** Checks the credentials and returns the text unchanged, because printed configs redact whole texts. */
function parseGoogleCredentials(text: string): string | Refusal {
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

/** Keys inline in the file; in custom resources, entries of a Secret. */
function keysOf<Shape extends Record<string, Schema<string | undefined>>>(shape: Shape) {
  const keys = object({ data: object(shape).describe('Each value is a literal, `{file: path}` or `{env: NAME}`.') })
  return localForm(keys, objectReference(), ({ name }, objects) => {
    const entries = objects.secret(name)
    if (entries instanceof Refusal) return entries
    const data: Record<string, unknown> = {}
    for (const [key, schema] of Object.entries(shape)) {
      const { node, required } = fieldOf(schema)
      const text = entryOf(`Secret \`${name}\``, entries, key)
      if (text instanceof Refusal && required) return text
      if (text instanceof Refusal || node.kind !== 'scalar') continue
      const value = withinSecret(name, node.read(text.trim()))
      if (value instanceof Refusal) return value
      data[key] = value
    }
    return { data } as Output<typeof keys>
  })
}
