import { CredentialFault } from '../fault.ts'
import type { CredentialServices } from '../services.ts'
import { sharedSource } from '../shared-source.ts'
import type { SignableRequest } from './canonical-request.ts'
import { ambientKeys, fixedKeys } from './keys.ts'
import { createSigV4, type SignatureHeaders, type SigningScope } from './sigv4.ts'

export interface AwsSignerConfig extends SigningScope {
  /** Left out, they are looked for where the SDK does. */
  keys?: { accessKey: string; secretKey: string; sessionToken?: string | undefined } | undefined
}

/** Headers to set on the request, in place of what it has under these names. */
export type AwsSigner = (
  request: SignableRequest,
) => SignatureHeaders | CredentialFault | Promise<SignatureHeaders | CredentialFault>

/** Signs requests over their final bytes. Nothing is looked for before the first of them. */
export function createAwsSigner({ region, service, keys }: AwsSignerConfig, services: CredentialServices): AwsSigner {
  const sign = createSigV4({ region, service })
  const source =
    keys === undefined
      ? sharedSource(services, ['aws'], () => ambientKeys(services))
      : fixedKeys({ ...keys, sessionToken: keys.sessionToken ?? null })
  return (request) => {
    const found = source.current()
    if (found instanceof Promise) {
      return found.then((later) => (later instanceof CredentialFault ? later : sign(request, later, services.clock())))
    }
    return found instanceof CredentialFault ? found : sign(request, found, services.clock())
  }
}
