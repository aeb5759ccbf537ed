import { credentialWriter } from '../../../pipeline/credential.ts'
import type { Failure } from '../../../pipeline/failure.ts'
import type { BackendPlace, BackendStep } from '../../../pipeline/outgoing.ts'
import type { Env } from '../../../pipeline/step.ts'
import { awsAuth } from './aws.ts'
import type { BackendAuthConfig } from './schema.ts'
import { azureAuth, gcpAuth } from './token.ts'

/**
 * Shows a credential to the backend with each attempt; the request itself never holds it, so mirrors do not get it.
 * Throws where the config cannot work: compiling is the check of a config.
 */
export function backendAuth(config: BackendAuthConfig, env: Env, place: BackendPlace): BackendStep {
  const { aws, azure, gcp } = config
  if (aws === undefined && azure === undefined && gcp === undefined) return fixedAuth(config)
  // A static key may be meant for many hosts; what a cloud gives out is worth too much to be sent to any.
  if (!place.isFixed)
    throw new Error(`${env.attachment}: \`auth\` of a cloud needs a backend whose host the config names`)
  if (aws !== undefined) return awsAuth(aws, env, place)
  return gcp === undefined ? azureAuth(azure!, env, place) : gcpAuth(gcp, env, place)
}

function fixedAuth(config: BackendAuthConfig): BackendStep {
  const { location = BEARER } = config
  const write = credentialWriter(location)
  const fixed = config.key ?? config.secretRef
  return {
    request(outgoing, rx) {
      const credential = fixed ?? rx.clientToken
      if (credential === null) return
      // What a client sent in a query may hold anything once it is decoded.
      if (!PRINTABLE.test(credential)) return UNPRINTABLE
      write(outgoing, credential)
    },
  }
}

const BEARER = { header: { name: 'authorization', prefix: 'Bearer ' } }
const PRINTABLE = /^[\x20-\x7e]+$/
const UNPRINTABLE: Failure = {
  status: 500,
  message: 'backend authentication failed: the credential cannot be sent',
  reason: 'UpstreamFailure',
}
