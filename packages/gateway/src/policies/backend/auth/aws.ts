import { isSigned, OWN_HEADERS } from '../../../credentials/aws/canonical-request.ts'
import { scopeOfHost } from '../../../credentials/aws/endpoint.ts'
import { type HeaderBlock, sourceOf } from '@portico/http'
import { CredentialFault, type SignatureHeaders, type SigningScope } from '../../../pipeline/cloud-credentials.ts'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { OutgoingTarget, BackendStep, OutgoingRequest } from '../../../pipeline/context/outgoing.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { takeWhole } from '../../../pipeline/body/take-whole.ts'
import { credentialFailure } from './failure.ts'
import type { BackendAuthConfig } from './schema.ts'

type AwsConfig = NonNullable<BackendAuthConfig['aws']>

/** Signs each attempt after all other changes, over the bytes that are sent. */
export function awsAuth(config: AwsConfig, env: Env, place: OutgoingTarget): BackendStep {
  const scope = scopeFor(config, place, env)
  const sign = env.credentials.awsSigner({ ...scope, keys: config.secretRef?.data })
  return {
    requestBody: 'whole',
    sign(outgoing, rx) {
      const claimed = outgoing.headers.get('x-amz-content-sha256') ?? ''
      const isInPieces = claimed.startsWith('STREAMING-')
      if (isInPieces && claimed !== UNSIGNED_PIECES) return SIGNED_PIECES
      const body = takeWhole(outgoing.body)
      // The original body may be readable only once.
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

/** The value of `x-amz-content-sha256` for a body with checksums between its chunks; the receiver needs it to parse. */
const UNSIGNED_PIECES = 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'
const SIGNED_PIECES: Failure = {
  status: 400,
  message: 'backend authentication failed: the client signed the body in chunks, so it cannot be signed again',
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

function scopeFor(config: AwsConfig, place: OutgoingTarget, env: Env): SigningScope {
  const { region, service } = config
  const known = place.signing ?? (place.host === null ? null : scopeOfHost(place.host))
  const found = region ?? known?.region ?? env.credentials.awsRegion
  if (found === null) {
    const phrases = { found: 'found a host without a region in its name', expected: 'a `region`' }
    throw new ConfigFault(config, [], phrases)
  }
  return { region: found, service: service ?? known?.service ?? 'bedrock' }
}
