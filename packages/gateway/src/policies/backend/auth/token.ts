import { CredentialFault } from '../../../credentials/fault.ts'
import type { TokenSource } from '../../../credentials/token.ts'
import { credentialWriter } from '../../../pipeline/credential.ts'
import type { Failure } from '../../../pipeline/failure.ts'
import type { BackendPlace, BackendStep, OutgoingRequest } from '../../../pipeline/outgoing.ts'
import type { Env } from '../../../pipeline/step.ts'
import { credentialFailure } from './failure.ts'
import type { BackendAuthConfig } from './schema.ts'

export function azureAuth(
  { secretRef, managedIdentity }: NonNullable<BackendAuthConfig['azure']>,
  env: Env,
  { host }: BackendPlace,
): BackendStep {
  const isFoundry = host !== null && /\.services\.ai\.azure\.com$/i.test(host)
  const scope = isFoundry ? 'https://ai.azure.com/.default' : 'https://cognitiveservices.azure.com/.default'
  return tokenAuth(env.credentials.azureToken({ scope, clientSecret: secretRef?.data, managedIdentity }))
}

export function gcpAuth(
  { type, secretRef, audience }: NonNullable<BackendAuthConfig['gcp']>,
  env: Env,
  { host }: BackendPlace,
): BackendStep {
  if (type !== 'IdToken') {
    if (audience !== undefined) throw new Error(`${env.attachment}: \`auth.gcp.audience\` is for \`type: IdToken\``)
    return tokenAuth(env.credentials.gcpToken({ credentials: secretRef }))
  }
  const target = audience ?? (host === null ? null : `https://${host}`)
  if (target === null)
    throw new Error(`${env.attachment}: \`auth.gcp\` needs an \`audience\`, because the backend has no host`)
  return tokenAuth(env.credentials.gcpToken({ credentials: secretRef, audience: target }))
}

function tokenAuth(source: TokenSource): BackendStep {
  return {
    request(outgoing) {
      const token = source.current()
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
