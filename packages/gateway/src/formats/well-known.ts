/** Paths of the documents by which MCP clients find their authorization server (RFC 9728, RFC 8414, OpenID). */

const RESOURCE = '/.well-known/oauth-protected-resource'
const SERVERS = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'] as const
const REGISTRATION = '/client-registration'
const AUTHORIZATION = '/client-authorization'

const SUFFIXES = [
  [REGISTRATION, 'registration'],
  [AUTHORIZATION, 'authorization'],
] as const

/** The document that a discovery path names. */
interface Discovery {
  document: 'resource' | 'server' | 'registration' | 'authorization'
  /** Path of the endpoint that the document is about; empty for the root. */
  resource: string
}

/** Returns null for every other path. */
export function readDiscoveryPath(path: string): Discovery | null {
  if (!path.includes('/.well-known/o')) return null
  const resource = restOf(path, RESOURCE)
  if (resource !== null) return { document: 'resource', resource }
  const [suffix, document] = SUFFIXES.find(([suffix]) => path.endsWith(suffix)) ?? (['', 'server'] as const)
  const place = path.slice(0, path.length - suffix.length)
  for (const server of SERVERS) {
    // The issuer's path follows the well-known path in RFC 8414, and precedes it in OpenID.
    const found = restOf(place, server) ?? (place.endsWith(server) ? place.slice(0, -server.length) : null)
    if (found !== null) return { document, resource: found }
  }
  return null
}

/** Returns the path of an endpoint's protected-resource metadata. */
export function resourceMetadataPath(resource: string): string {
  return RESOURCE + (resource === '/' ? '' : resource)
}

/** Returns the paths of an issuer's authorization server metadata, by RFC 8414 and by OpenID. */
export function serverMetadataPaths(issuerPath: string): { oauth: string; openid: string } {
  const path = issuerPath.endsWith('/') ? issuerPath.slice(0, -1) : issuerPath
  return { oauth: SERVERS[0] + path, openid: path + SERVERS[1] }
}

/** Returns the path where a client registers; it extends the path of the metadata that the client read. */
export function registrationPath(metadataPath: string): string {
  return metadataPath + REGISTRATION
}

/** Returns the path where browsers sign in; it extends the path of the metadata that the client read. */
export function authorizationPath(metadataPath: string): string {
  return metadataPath + AUTHORIZATION
}

/** Returns the path prefixes of documents about an endpoint and everything below it. */
export function discoveryPrefixes(resource: string): string[] {
  return [RESOURCE, ...SERVERS].map((document) => document + resource)
}

/** Returns every path of a document about one endpoint; `resource` is empty for the root. */
export function discoveryPaths(resource: string): string[] {
  const servers = SERVERS.flatMap((server) => [server + resource, resource + server])
  return [
    ...new Set([RESOURCE + resource, ...servers, ...servers.map(registrationPath), ...servers.map(authorizationPath)]),
  ]
}

function restOf(path: string, start: string): string | null {
  if (!path.startsWith(start)) return null
  const rest = path.slice(start.length)
  if (rest === '' || rest === '/') return ''
  return rest.startsWith('/') ? rest : null
}
