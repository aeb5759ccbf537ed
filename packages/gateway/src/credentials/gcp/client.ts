import type { AuthClient, AwsClientOptions, IdentityPoolClientOptions } from 'google-auth-library'
import type { CredentialServices } from '../services.ts'

/**
 * Creates a client that gets tokens with the credentials in `json` or, without `json`, with those of the environment or
 * machine.
 */
export async function createGoogleClient(
  json: string | undefined,
  { fetch }: Pick<CredentialServices, 'fetch'>,
): Promise<AuthClient> {
  const library = await import('google-auth-library')
  if (json !== undefined) {
    const credentials = JSON.parse(json) as Record<string, unknown>
    checkAddresses(credentials)
    return clientFor(credentials, library, { transporterOptions: { fetchImplementation: fetch } })
  }
  // A project is not needed, and the library would run a program to find the project.
  return await new library.GoogleAuth({ scopes: SCOPE, projectId: 'unused' }).getClient()
}

/**
 * External account credentials name a file to read and an address to send its contents to; the address must be
 * Google's.
 */
function checkAddresses(credentials: Record<string, unknown>): void {
  for (const name of ['token_url', 'token_info_url', 'service_account_impersonation_url']) {
    const address = credentials[name]
    if (address === undefined || address === null) continue
    if (typeof address !== 'string' || !GOOGLE.test(address)) throw new TypeError(`${name} is not an address of Google`)
  }
  const source = credentials['source_credentials']
  if (typeof source === 'object' && source !== null) checkAddresses({ ...source, source_credentials: undefined })
}

const GOOGLE = /^https:\/\/(?:[a-z0-9-]+\.){1,4}googleapis\.com\/[\x21-\x7e]*$/

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'

type Library = typeof import('google-auth-library')
type Transport = { transporterOptions: { fetchImplementation: typeof fetch } }
type Credentials = Record<string, unknown>

/** Returns the client for one of the credential types that Google issues. */
export function clientFor(json: Credentials, library: Library, transport: Transport): AuthClient {
  const text = (name: string): string => {
    const value = json[name]
    if (typeof value !== 'string' || value === '') throw new TypeError(`${name} is missing`)
    return value
  }
  switch (json['type']) {
    case 'service_account':
      return new library.JWT({
        email: text('client_email'),
        key: text('private_key'),
        scopes: SCOPE,
        ...transport,
      })
    case 'authorized_user':
      return new library.UserRefreshClient({
        clientId: text('client_id'),
        clientSecret: text('client_secret'),
        refreshToken: text('refresh_token'),
        ...transport,
      })
    case 'impersonated_service_account':
      return new library.Impersonated({
        sourceClient: clientFor(sourceOf(json), library, transport),
        targetPrincipal: principalOf(text('service_account_impersonation_url')),
        targetScopes: [SCOPE],
        ...transport,
      })
    case 'external_account': {
      // The library validates the fields that it needs.
      const options = { ...json, scopes: [SCOPE], ...transport } as unknown as IdentityPoolClientOptions &
        AwsClientOptions
      return isOfAws(json) ? new library.AwsClient(options) : new library.IdentityPoolClient(options)
    }
    default:
      throw new TypeError('credentials of an unknown type')
  }
}

/**
 * The credentials that impersonate a service account. They must not be impersonated themselves, or the chain might
 * never end.
 */
function sourceOf(json: Credentials): Credentials {
  const source = json['source_credentials']
  if (typeof source !== 'object' || source === null) throw new TypeError('source_credentials is missing')
  if ('type' in source && source.type === 'impersonated_service_account')
    throw new TypeError('source_credentials is nested too deeply')
  return { ...source }
}

function principalOf(url: string): string {
  const principal = /\/serviceAccounts\/([^/:]{1,256}):generateAccessToken$/.exec(url)?.[1]
  if (principal === undefined) throw new TypeError('service_account_impersonation_url contains no service account')
  return principal
}

function isOfAws({ credential_source: source }: Credentials): boolean {
  return typeof source === 'object' && source !== null && 'environment_id' in source
}
