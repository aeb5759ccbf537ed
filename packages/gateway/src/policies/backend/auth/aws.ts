import { isSigned, OWN_HEADERS } from '../../../credentials/aws/canonical-request.ts'
import { scopeOfHost } from '../../../credentials/aws/endpoint.ts'
import { type HeaderBlock, sourceOf } from '@portico/http'
import { CredentialFault, type SignatureHeaders, type SigningScope } from '../../../pipeline/cloud-credentials.ts'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { BackendPlace, BackendStep, OutgoingRequest } from '../../../pipeline/context/outgoing.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { takeWhole } from '../../../pipeline/body/take-whole.ts'
import { credentialFailure } from './failure.ts'
import type { BackendAuthConfig } from './schema.ts'

type AwsConfig = NonNullable<BackendAuthConfig['aws']>

/** Signs each attempt behind everything that changes it, over the bytes that are sent. */
export function awsAuth(config: AwsConfig, env: Env, place: BackendPlace): BackendStep {
  const scope = scopeFor(config, place, env)
  const sign = env.credentials.awsSigner({ ...scope, keys: config.secretRef?.data })
  return {
    requestBody: 'whole',
    sign(outgoing, rx) {
      const claimed = outgoing.headers.get('x-amz-content-sha256') ?? ''
      const isInPieces = claimed.startsWith('STREAMING-')
      if (isInPieces && claimed !== UNSIGNED_PIECES) return SIGNED_PIECES
      const body = takeWhole(outgoing.body)
      // It may be read only once.
      outgoing.body = sourceOf(body.bytes, body.trailers)
      const { method, target, authority, headers } = outgoing
      for (const name of OWN_HEADERS) headers.removeAlike(name)
      const unsigned = isInPieces ? { unsignedAs: UNSIGNED_PIECES } : {}
      const request = { method, target, authority, headers: signedOf(headers), body: body.bytes, ...unsigned }
      const signed = sign(request, rx.spans)
      return signed instanceof Promise ? signed.then((later) => write(outgoing, later)) : write(outgoing, signed)
    },
  }
}

/** The body has checksums between its pieces: whoever reads it must be told so. */
const UNSIGNED_PIECES = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
const SIGNED_PIECES: Failure = {
  status: 400,
  message: 'backend authentication failed: the client signed the body piece by piece, and it cannot be signed anew',
  reason: 'InvalidRequest',
  code: 'signed_in_pieces',
}

function write({ headers }: OutgoingRequest, signed: SignatureHeaders | CredentialFault): Failure | undefined {
  if (signed instanceof CredentialFault) return credentialFailure(signed)
  for (const [name, value] of signed) headers.add(name, value)
  return undefined
}

function signedOf(headers: HeaderBlock): [string, string][] {
  const found: [string, string][] = []
  headers.forEach((name, value) => {
    if (isSigned(name.toLowerCase())) found.push([name, value])
  })
  return found
}

function scopeFor(config: AwsConfig, place: BackendPlace, env: Env): SigningScope {
  const { region, service } = config
  const known = place.signing ?? (place.host === null ? null : scopeOfHost(place.host))
  const found = region ?? known?.region ?? env.credentials.awsRegion
  if (found === null) {
    const phrases = { found: 'found a host that does not tell its region', expected: 'a `region`' }
    throw new ConfigFault(config, [], phrases)
  }
  return { region: found, service: service ?? known?.service ?? 'bedrock' }
}
