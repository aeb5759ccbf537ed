import { type HeaderBlock, isForwardingHeader } from '@portico/http'

/**
 * The one list of names under which clients present credentials. A provider can look for its key only in a header of
 * `KEY_HEADERS`, so a header that is new here is withheld from every other backend at the same time.
 */

/** Headers in which HTTP itself carries credentials, lower case. */
export const HTTP_CREDENTIAL_HEADERS = ['authorization', 'cookie', 'proxy-authorization'] as const

/** Headers in which model vendors look for a key, lower case. */
export const KEY_HEADERS = ['x-api-key', 'x-goog-api-key', 'api-key'] as const

/** Headers that the credential of a model vendor can stand in. */
export const VENDOR_CREDENTIAL_HEADERS = ['authorization', ...KEY_HEADERS] as const

export type CredentialHeader = (typeof VENDOR_CREDENTIAL_HEADERS)[number]

/** Headers that identify a client to the gateway, or to a proxy in front of it; no backend looks for its key there. */
const OTHER_CREDENTIAL_HEADERS = [
  'apikey',
  'cf-access-jwt-assertion',
  'cookie',
  'proxy-authorization',
  'x-access-token',
  'x-amz-security-token',
  'x-amzn-oidc-accesstoken',
  'x-amzn-oidc-data',
  'x-auth-token',
  'x-csrf-token',
  'x-goog-iap-jwt-assertion',
  'x-id-token',
  'x-xsrf-token',
] as const

const VENDOR: ReadonlySet<string> = new Set(VENDOR_CREDENTIAL_HEADERS)
const ALL: ReadonlySet<string> = new Set([...VENDOR_CREDENTIAL_HEADERS, ...OTHER_CREDENTIAL_HEADERS])

/** Whether clients present a credential in the header of this name (lower case), or in one that servers confuse with it. */
export function isCredentialHeader(name: string): boolean {
  return ALL.has(dashed(name))
}

/** Whether the credential of a model vendor can stand in the header of this name (lower case). */
function isVendorCredentialHeader(name: string): boolean {
  return VENDOR.has(dashed(name))
}

/** Whether a query parameter of this name holds a credential. Separators and letter case do not count. */
export function isCredentialParameter(name: string): boolean {
  return PARAMETERS.has(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
}

/** Names of headers serve as parameters too, with and without their `x-`: `?x-api-key=`, `?access_token=`. */
const PARAMETERS: ReadonlySet<string> = new Set([
  ...[...ALL].flatMap((name) => [name, name.replace(/^x-/, '')]).map((name) => name.replaceAll('-', '')),
  'accesskey',
  'bearer',
  'bearertoken',
  'clientsecret',
  'jwt',
  'key',
  'password',
  'secret',
  'secretkey',
  'sessiontoken',
  'subscriptionkey',
  'token',
  'xamzcredential',
  'xamzsignature',
])

/** Many servers read `x_api_key` and `x.api.key` as `x-api-key`. */
function dashed(name: string): string {
  return SEPARATOR.test(name) ? name.replaceAll(SEPARATORS, '-') : name
}

const SEPARATOR = /[_.]/
const SEPARATORS = /[_.]/g

/**
 * Removes the headers that a client sends for the gateway alone: cookies, credentials, the address of the client. Call it
 * before the policies of the backend, so that headers which a policy sets are kept. `keepsKey` keeps the client's key for
 * a model vendor, for backends whose policies set no key of their own.
 */
export function withholdClientHeaders(headers: HeaderBlock, { keepsKey }: { keepsKey: boolean }): void {
  headers.removeWhere(keepsKey ? isForGatewayAlone : isForGateway)
}

function isForGateway(name: string): boolean {
  return isCredentialHeader(name) || isForwardingHeader(name) || CLIENT_ADDRESS.has(name)
}

function isForGatewayAlone(name: string): boolean {
  return isForGateway(name) && !isVendorCredentialHeader(name)
}

/** Headers in which content delivery networks and load balancers put the address of the client. */
const CLIENT_ADDRESS: ReadonlySet<string> = new Set([
  'cf-connecting-ip',
  'cf-connecting-ipv6',
  'fastly-client-ip',
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-original-forwarded-for',
])
