import { createPublicKey } from 'node:crypto'
import type { Field } from '../../core/yaml-field.ts'
import type { Consumer } from '../consumers.ts'
import { textsOf } from '../entities.ts'
import type { Plugin } from '../scopes.ts'
import { authentication, customIds, lookup, textIn } from './authentication.ts'
import { closes, type ReadPlugin, type Surroundings } from './plugin.ts'

interface Issuer {
  readonly consumer: Consumer
  readonly issuer: string
  /** The JSON Web Key Set of the issuer, as JSON. */
  readonly keys: string
}

const MOST_ISSUERS = 64

export function readJwt(plugin: Plugin, { consumers }: Surroundings): ReadPlugin {
  const { config } = plugin
  const claim = config.get('key_claim_name')
  if (claim !== null && claim.text !== 'iss')
    return closes(plugin, 'the plugin finds the key by a claim other than iss')
  claim?.carried('the value is the default')
  const issuers = consumers.flatMap((consumer) =>
    (consumer.credentials.get('jwt_secrets') ?? []).flatMap((field) => readIssuer(consumer, field) ?? []),
  )
  markOptions(plugin)
  if (issuers.length === 0)
    return closes(plugin, 'no consumer has a public key, and the gateway accepts no shared secrets')
  if (issuers.length > MOST_ISSUERS) return closes(plugin, `the consumers have more than ${MOST_ISSUERS} issuers`)
  const owners = issuers.map(({ issuer, consumer }) => [issuer, consumer] as const)
  return authentication({
    ...{ plugin, consumers, policy: 'jwtAuthentication', key: 'jwt.iss', isNobody: 'default(jwt.iss, "") == ""' },
    name: lookup(
      'jwt.iss',
      owners.map(([issuer, consumer]) => [issuer, consumer.name]),
    ),
    customId: customIds('jwt.iss', owners),
    isOneOf: (some) =>
      textIn(
        'default(jwt.iss, "")',
        issuers.filter(({ consumer }) => some.includes(consumer)).map(({ issuer }) => issuer),
      ),
    value: { providers: issuers.map(({ issuer, keys }) => ({ issuer, jwks: { inline: keys } })) },
  })
}

function readIssuer(consumer: Consumer, credential: Field): Issuer | null {
  const [key, algorithm, pem, secret] = ['key', 'algorithm', 'rsa_public_key', 'secret'].map((name) =>
    credential.get(name),
  )
  if (!/^(RS|PS|ES)\d+$|^EdDSA$/.test(algorithm?.text ?? 'HS256')) {
    credential.notCarried('the gateway accepts no shared secrets; tokens of this credential are denied')
    return null
  }
  const keys = keySetOf(pem?.text ?? '', algorithm?.text ?? '')
  if (key?.text == null || key.text.length > 256 || keys === null) {
    credential.notCarried('the credential has no valid public key; its tokens are denied')
    return null
  }
  for (const each of [key, algorithm, pem]) each?.carried()
  secret?.carried('the field has no effect with a public key')
  return { consumer, issuer: key.text, keys }
}

function keySetOf(pem: string, algorithm: string): string | null {
  try {
    const key = createPublicKey(pem)
    return JSON.stringify({ keys: [{ ...key.export({ format: 'jwk' }), alg: algorithm }] })
  } catch {
    return null
  }
}

function markOptions({ config }: Plugin): void {
  const claims = config.get('claims_to_verify')
  if (claims !== null) {
    if (textsOf(claims).includes('exp')) claims.carried()
    else claims.changed('the gateway always requires the claim exp')
  }
  config.get('maximum_expiration')?.notCarried('configure an authorization rule that limits jwt.exp', true)
  config.get('secret_is_base64')?.carried('the field has no effect on public keys')
  for (const name of ['uri_param_names', 'cookie_names']) {
    const field = config.get(name)
    if (field === null) continue
    if (field.items.length === 0) field.carried()
    else field.changed('the gateway reads tokens only from the header Authorization')
  }
  const headers = config.get('header_names')
  if (textsOf(headers).every((name) => name.toLowerCase() === 'authorization')) headers?.carried()
  else headers?.changed('the gateway reads tokens only from the header Authorization')
}
