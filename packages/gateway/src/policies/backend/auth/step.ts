import { ConfigFault } from '../../../pipeline/compiled/config-fault.ts'
import { credentialWriter } from '../../../pipeline/policy/credential.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'
import type { OutgoingTarget, BackendStep } from '../../../pipeline/context/outgoing.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { awsAuth } from './aws.ts'
import type { BackendAuthConfig } from './schema.ts'
import { azureAuth, gcpAuth } from './token.ts'

/**
 * Adds a credential to each attempt. The credential is not part of the request itself, so mirrors do not get it. Throws
 * a `ConfigFault` when the config cannot work, because a config is checked by compiling it.
 */
export function backendAuth(config: BackendAuthConfig, env: Env, place: OutgoingTarget): BackendStep {
  if (config.passthrough !== undefined && config.location === undefined) return restored
  const make = cloudAuth(config)
  if (make === null) return fixedAuth(config)
  // A static key may be for many hosts, but cloud credentials must not go to a host that a client names.
  if (!place.isFixed) {
    const found = 'found `auth` of a cloud for hosts that clients name'
    throw new ConfigFault(config, [], { found, expected: 'a backend whose host the config names' })
  }
  return make(env, place)
}

function cloudAuth({ aws, azure, gcp }: BackendAuthConfig): ((env: Env, place: OutgoingTarget) => BackendStep) | null {
  if (aws !== undefined) return (env, place) => awsAuth(aws, env, place)
  if (azure !== undefined) return (env, place) => azureAuth(azure, env, place)
  return gcp === undefined ? null : (env, place) => gcpAuth(gcp, env, place)
}

/** A credential of the config, or the client's own token in the configured location. */
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

/**
 * Restores the credentials that authentication removed. The last one comes first, because each was removed from what the
 * earlier ones had left.
 */
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
