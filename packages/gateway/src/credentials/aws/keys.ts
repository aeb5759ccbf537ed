import type { CredentialFault, CredentialWatch } from '../../pipeline/cloud-credentials.ts'
import { faultOf } from '../fault.ts'
import { type ExpiringValue, RenewedCredential } from '../renewed-credential.ts'
import type { CredentialServices } from '../services.ts'
import type { AwsKeys } from './sigv4.ts'

/** A source of AWS keys; `current` returns a promise while the keys are being obtained. */
interface KeySource {
  current(watch: CredentialWatch | null): AwsKeys | CredentialFault | Promise<AwsKeys | CredentialFault>
}

export function fixedKeys(keys: AwsKeys): KeySource {
  return { current: () => keys }
}

/** Keys from the SDK's default chain: variables, profiles, web identity, containers, instances. */
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

async function fromChain(clock: () => number): Promise<ExpiringValue<AwsKeys> | CredentialFault> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node')
  try {
    // A new chain each time: an old chain would return its cached keys while it looks for new keys.
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await defaultProvider({ logger: SILENT })()
    return {
      value: { accessKey: accessKeyId, secretKey: secretAccessKey, sessionToken: sessionToken ?? null },
      // Keys without an expiry may still be replaced in their store.
      lifetimeMs: expiration === undefined ? LOOK_AGAIN_MS : expiration.getTime() - clock(),
    }
  } catch (error) {
    return faultOf(WHAT, error)
  }
}

const WHAT = 'no AWS credentials'
const LOOK_AGAIN_MS = 15 * 60_000
/** Keeps the SDK from writing to the console. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
