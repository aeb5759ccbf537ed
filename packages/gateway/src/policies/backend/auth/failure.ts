import type { CredentialFault } from '../../../pipeline/cloud-credentials.ts'
import type { Failure } from '../../../pipeline/context/failure.ts'

export function credentialFailure({ reason }: CredentialFault): Failure {
  return {
    status: 500,
    message: `backend authentication failed: ${reason}`,
    reason: 'UpstreamFailure',
    code: 'no_credential',
  }
}
