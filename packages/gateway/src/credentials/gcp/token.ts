import type { AuthClient } from 'google-auth-library'
import { CredentialFault, type GcpTokenConfig, type TokenSource } from '../../pipeline/cloud-credentials.ts'
import { faultOf } from '../fault.ts'
import { type ExpiringValue, RenewedCredential } from '../renewed-credential.ts'
import type { CredentialServices } from '../services.ts'
import { sharedSource } from '../shared-source.ts'
import { isToken } from '../token.ts'
import { createGoogleClient } from './client.ts'

/** Requests no token before the first token is needed. */
export function createGcpToken(config: GcpTokenConfig, services: CredentialServices): TokenSource {
  const { clock, monotonic, random, log } = services
  return sharedSource(services, ['gcp', config], () => {
    let client: Promise<AuthClient> | null = null
    const obtain = async (): Promise<ExpiringValue<string> | CredentialFault> => {
      try {
        client ??= createGoogleClient(config.credentials, services)
        return await askFor(await client, config.audience, clock)
      } catch (error) {
        // The client may have cached a temporary condition, such as a missing metadata server.
        client = null
        return isNothingFound(error) ? NOTHING : faultOf(WHAT, error)
      }
    }
    return new RenewedCredential({
      cloud: 'gcp',
      what: WHAT,
      obtain,
      monotonic,
      random,
      failed: (reason) => log.warn('Google token not renewed', { reason }),
    })
  })
}

async function askFor(
  client: AuthClient,
  audience: string | undefined,
  clock: () => number,
): Promise<ExpiringValue<string> | CredentialFault> {
  if (audience === undefined) {
    const { token } = await client.getAccessToken()
    const end = client.credentials.expiry_date
    return isToken(token) ? { value: token, lifetimeMs: (end ?? Number.NaN) - clock() } : NONE
  }
  if (!canIdentify(client)) return new CredentialFault(`${WHAT}: these credentials cannot get an ID token`)
  const token: unknown = await client.fetchIdToken(audience)
  return isToken(token) ? { value: token, lifetimeMs: endOf(token) - clock() } : NONE
}

/** The library marks this error only by its message. */
function isNothingFound(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Could not load the default credentials')
}

function canIdentify(client: AuthClient): client is AuthClient & { fetchIdToken(audience: string): Promise<string> } {
  return 'fetchIdToken' in client && typeof client.fetchIdToken === 'function'
}

/** Expiry of the token in milliseconds since 1970; NaN when the token has no `exp` claim. */
function endOf(token: string): number {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
    const end = typeof claims === 'object' && claims !== null && 'exp' in claims ? claims.exp : undefined
    return typeof end === 'number' ? end * 1000 : Number.NaN
  } catch {
    return Number.NaN
  }
}

const WHAT = 'no Google token'
const NONE = new CredentialFault(`${WHAT}: the response contains no token`)
const NOTHING = new CredentialFault(`${WHAT}: no credentials were found`)
