import { CredentialFault, type TokenSource } from '../../../pipeline/cloud-credentials.ts'
import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import { credentialWriter } from '../../../pipeline/policy/credential.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { OutgoingTarget, BackendStep, OutgoingRequest } from '../../../pipeline/context/outgoing.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { credentialFailure } from './failure.ts'
import type { BackendAuthConfig } from './schema.ts'

export function azureAuth(
  { secretRef, managedIdentity }: NonNullable<BackendAuthConfig['azure']>,
  env: Env,
  { host }: OutgoingTarget,
): BackendStep {
  const isFoundry = host !== null && /\.services\.ai\.azure\.com$/i.test(host)
  const scope = isFoundry ? 'https://ai.azure.com/.default' : 'https://cognitiveservices.azure.com/.default'
  return tokenAuth(env.credentials.azureToken({ scope, clientSecret: secretRef?.data, managedIdentity }))
}

export function gcpAuth(
  config: NonNullable<BackendAuthConfig['gcp']>,
  env: Env,
  { host }: OutgoingTarget,
): BackendStep {
  const { type, secretRef, audience } = config
  if (type !== 'IdToken') {
    if (audience !== undefined) {
      const found = 'found an `audience` for an access token'
      throw new ConfigFault(config, ['audience'], { found, expected: '`type: IdToken`' })
    }
    return tokenAuth(env.credentials.gcpToken({ credentials: secretRef }))
  }
  const target = audience ?? (host === null ? null : `https://${host}`)
  if (target === null) {
    throw new ConfigFault(config, [], { found: 'found a backend without a host', expected: 'an `audience`' })
  }
  return tokenAuth(env.credentials.gcpToken({ credentials: secretRef, audience: target }))
}

function tokenAuth(source: TokenSource): BackendStep {
  return {
    request(outgoing, rx) {
      const token = source.current(rx.spans)
      return token instanceof Promise ? token.then((later) => write(outgoing, later)) : write(outgoing, token)
    },
  }
}

function write(outgoing: OutgoingRequest, token: string | CredentialFault): Failure | undefined {
  if (token instanceof CredentialFault) return credentialFailure(token)
  writeBearer(outgoing, token)
  return undefined
}

const writeBearer = credentialWriter({ header: { name: 'authorization', prefix: 'Bearer ' } })
