import { credentialWriter } from '../../../pipeline/credential.ts'
import type { Failure } from '../../../pipeline/failure.ts'
import type { BackendStep } from '../../../pipeline/outgoing.ts'
import type { BackendAuthConfig } from './schema.ts'

/** Shows a credential to the backend with each attempt; the request itself never holds it, so mirrors do not get it. */
export function backendAuth(config: BackendAuthConfig): BackendStep {
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
