import { type AwsSigner, type AwsSignerConfig, CredentialFault } from '../../pipeline/cloud-credentials.ts'
import type { CredentialServices } from '../services.ts'
import { sharedSource } from '../shared-source.ts'
import { ambientKeys, fixedKeys } from './keys.ts'
import { createSigV4 } from './sigv4.ts'

/**
 * Creates a signer that signs requests over their final bytes. It looks for keys only when the first request is signed.
 */
export function createAwsSigner({ region, service, keys }: AwsSignerConfig, services: CredentialServices): AwsSigner {
  const sign = createSigV4({ region, service })
  const source =
    keys === undefined
      ? sharedSource(services, ['aws'], () => ambientKeys(services))
      : fixedKeys({ ...keys, sessionToken: keys.sessionToken ?? null })
  return (request, watch = null) => {
    const found = source.current(watch)
    if (found instanceof Promise) {
      return found.then((later) => (later instanceof CredentialFault ? later : sign(request, later, services.clock())))
    }
    return found instanceof CredentialFault ? found : sign(request, found, services.clock())
  }
}
