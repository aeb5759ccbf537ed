import type { CredentialFault, CredentialWatch } from '../../pipeline/cloud-credentials.ts'
import { faultOf } from '../fault.ts'
import { type Obtained, RenewedCredential } from '../renewed-credential.ts'
import type { CredentialServices } from '../services.ts'
import type { AwsKeys } from './sigv4.ts'

/** Keys now, or soon. */
export interface KeySource {
  current(watch: CredentialWatch | null): AwsKeys | CredentialFault | Promise<AwsKeys | CredentialFault>
}

export function fixedKeys(keys: AwsKeys): KeySource {
  return { current: () => keys }
}

/** Wherever the SDK finds some: variables, profiles, web identity, containers, instances. */
export function ambientKeys({ clock, monotonic, random, log }: CredentialServices): KeySource {
  return new RenewedCredential({
    cloud: 'aws',
    what: WHAT,
    obtain: () => fromChain(clock),
    monotonic,
    random,
    failed: (reason) => log.warn('AWS keys not renewed', { reason }),
  })
}

async function fromChain(clock: () => number): Promise<Obtained<AwsKeys> | CredentialFault> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node')
  try {
    // A new chain each time: an old one would give out what it has while it looks for something new.
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await defaultProvider({ logger: SILENT })()
    return {
      value: { accessKey: accessKeyId, secretKey: secretAccessKey, sessionToken: sessionToken ?? null },
      // Keys without an end may still be replaced where they are kept.
      lifetimeMs: expiration === undefined ? LOOK_AGAIN_MS : expiration.getTime() - clock(),
    }
  } catch (error) {
    return faultOf(WHAT, error)
  }
}

const WHAT = 'no AWS credentials'
const LOOK_AGAIN_MS = 15 * 60_000
/** The SDK writes to the console otherwise. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
