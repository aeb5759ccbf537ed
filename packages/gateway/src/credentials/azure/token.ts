import { readFile } from 'node:fs/promises'
import type {
  AzureTokenConfig,
  ClientSecret,
  CredentialFault,
  ManagedIdentity,
  TokenSource,
} from '../../pipeline/cloud-credentials.ts'
import { faultOf } from '../fault.ts'
import { type ExpiringValue, RenewedCredential } from '../renewed-credential.ts'
import type { CredentialServices } from '../services.ts'
import { sharedSource } from '../shared-source.ts'
import { askForToken } from './token-endpoint.ts'

/** Requests no token before the first token is needed. */
export function createAzureToken(config: AzureTokenConfig, services: CredentialServices): TokenSource {
  const { monotonic, random, log } = services
  return sharedSource(services, ['azure', config], () => {
    return new RenewedCredential({
      cloud: 'azure',
      what: 'no Azure token',
      obtain: () => obtain(config, services),
      monotonic,
      random,
      failed: (reason) => log.warn('Azure token not renewed', { reason }),
    })
  })
}

type Answer = Promise<ExpiringValue<string> | CredentialFault>

function obtain({ scope, clientSecret, managedIdentity }: AzureTokenConfig, services: CredentialServices): Answer {
  if (clientSecret !== undefined) return withSecret(clientSecret, scope, services)
  if (managedIdentity !== undefined) return asManaged(managedIdentity, scope, services)
  const {
    AZURE_CLIENT_ID: clientID = '',
    AZURE_TENANT_ID: tenantID = '',
    AZURE_CLIENT_SECRET: secret = '',
    AZURE_FEDERATED_TOKEN_FILE: file = '',
  } = services.environment
  if (clientID !== '' && tenantID !== '') {
    if (secret !== '') return withSecret({ clientID, tenantID, clientSecret: secret }, scope, services)
    if (file !== '') return asWorkload({ clientID, tenantID, file }, scope, services)
  }
  return asManaged({ clientId: clientID, objectId: '', resourceId: '' }, scope, services)
}

function withSecret({ clientID, tenantID, clientSecret }: ClientSecret, scope: string, services: CredentialServices) {
  const form = { grant_type: 'client_credentials', client_id: clientID, client_secret: clientSecret, scope }
  return askForToken(tenantUrl(tenantID, services), { form }, services)
}

/** Exchanges a token that the platform writes to a file and replaces from time to time. */
async function asWorkload(
  { clientID, tenantID, file }: { clientID: string; tenantID: string; file: string },
  scope: string,
  services: CredentialServices,
): Answer {
  let assertion
  try {
    assertion = (await readFile(file, 'utf8')).trim()
  } catch (error) {
    return faultOf('no Azure token: the federated token file cannot be read', error)
  }
  const form = {
    grant_type: 'client_credentials',
    client_id: clientID,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
    scope,
  }
  return askForToken(tenantUrl(tenantID, services), { form }, services)
}

/** Requests the token from the identity service of the platform or, without that, of the machine. */
function asManaged(identity: ManagedIdentity, scope: string, services: CredentialServices): Answer {
  const {
    IDENTITY_ENDPOINT: endpoint = '',
    IDENTITY_HEADER: secret = '',
    AZURE_POD_IDENTITY_AUTHORITY_HOST: host = 'http://169.254.169.254',
  } = services.environment
  const isPlatform = endpoint !== '' && secret !== ''
  const url = isPlatform ? new URL(endpoint) : new URL('/metadata/identity/oauth2/token', host)
  url.searchParams.set('api-version', isPlatform ? '2019-08-01' : '2018-02-01')
  url.searchParams.set('resource', scope.replace(/\/\.default$/, ''))
  const { clientId, objectId, resourceId } = identity
  if (clientId !== '') url.searchParams.set('client_id', clientId)
  else if (objectId !== '') url.searchParams.set(isPlatform ? 'principal_id' : 'object_id', objectId)
  else if (resourceId !== '') url.searchParams.set(isPlatform ? 'mi_res_id' : 'msi_res_id', resourceId)
  return askForToken(url, { headers: isPlatform ? { 'x-identity-header': secret } : { metadata: 'true' } }, services)
}

function tenantUrl(tenant: string, { environment }: CredentialServices): URL {
  const authority = environment['AZURE_AUTHORITY_HOST'] || 'https://login.microsoftonline.com'
  return new URL(`/${encodeURIComponent(tenant)}/oauth2/v2.0/token`, authority)
}
