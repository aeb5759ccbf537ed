import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import { credentialWriter } from '../../../pipeline/policy/credential.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { BackendPlace, BackendStep } from '../../../pipeline/context/outgoing.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { awsAuth } from './aws.ts'
import type { BackendAuthConfig } from './schema.ts'
import { azureAuth, gcpAuth } from './token.ts'

/**
 * Shows a credential to the backend with each attempt; the request itself never holds it, so mirrors do not get it.
 * Throws where the config cannot work: compiling is the check of a config.
 */
export function backendAuth(config: BackendAuthConfig, env: Env, place: BackendPlace): BackendStep {
  if (config.passthrough !== undefined && config.location === undefined) return restored
  const make = cloudAuth(config)
  if (make === null) return fixedAuth(config)
  // A static key may be meant for many hosts; what a cloud gives out is worth too much to be sent to any.
  if (!place.isFixed) {
    const found = 'found `auth` of a cloud for hosts that clients name'
    throw new ConfigFault(config, [], { found, expected: 'a backend whose host the config names' })
  }
  return make(env, place)
}

function cloudAuth({ aws, azure, gcp }: BackendAuthConfig): ((env: Env, place: BackendPlace) => BackendStep) | null {
  if (aws !== undefined) return (env, place) => awsAuth(aws, env, place)
  if (azure !== undefined) return (env, place) => azureAuth(azure, env, place)
  return gcp === undefined ? null : (env, place) => gcpAuth(gcp, env, place)
}

/** A credential of the config, or of the client in the place that the config says. */
function fixedAuth({ key, secretRef, location = BEARER }: BackendAuthConfig): BackendStep {
  const write = credentialWriter(location)
  const fixed = key ?? secretRef
  return {
    request(outgoing, rx) {
      const credential = fixed ?? rx.clientToken
      if (credential === null) return
      // A credential from a query may contain any character once it is decoded.
      if (!PRINTABLE.test(credential)) return UNPRINTABLE
      write(outgoing, credential)
    },
  }
}

/** All that authentication took off, as the client sent it; the last first, because each was taken from what the others had left. */
const restored: BackendStep = {
  request(outgoing, { taken }) {
    for (let i = taken.length - 1; i >= 0; i--) taken[i]?.restore(outgoing)
  },
}

const BEARER = { header: { name: 'authorization', prefix: 'Bearer ' } }
const PRINTABLE = /^[\x20-\x7e]+$/
const UNPRINTABLE: Failure = {
  status: 500,
  message: 'backend authentication failed: the credential cannot be sent',
  reason: 'UpstreamFailure',
  code: 'unprintable_credential',
}
