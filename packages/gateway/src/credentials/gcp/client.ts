import type { AuthClient } from 'google-auth-library'
import type { CredentialServices } from '../services.ts'
import { clientFor, SCOPE } from './client-for.ts'

/** One that gets tokens by the credentials in this JSON, or by those that the environment or the machine has. */
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
  // A project is not needed, and looking for one would run a program.
  return await new library.GoogleAuth({ scopes: SCOPE, projectId: 'unused' }).getClient()
}

/** Such credentials name a file to read and an address to send it to: the address must be Google's own. */
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
