import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import {
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type ConnectionOptions,
  type PeerCertificate,
  type SecureContext,
} from 'node:tls'
import { LRUCache } from 'lru-cache'
import { findAuthorityProblem, opensslReason } from '../../tls/pem.ts'
import { groupByName, type KeyExchangeGroupName } from '../../tls/tls-names.ts'

/** The backend `tls` policy with its references resolved to PEM texts; an empty object is TLS with every default. */
export interface BackendTlsConfig {
  mtlsCertificateRef?: { cert: string; key: string; ca?: string | null } | null
  /** CA certificates; they take precedence over `mtlsCertificateRef.ca`, and both over the system's. */
  caCertificateRefs?: string | null
  /** All: nothing is verified. Hostname: the chain is verified, the name is not. */
  insecureSkipVerify?: 'All' | 'Hostname' | null
  /** The name sent to the server, and the one its certificate must carry unless `verifySubjectAltNames` is set. */
  sni?: string | null
  /** Host names, IP addresses or URIs; the certificate must carry one of them. */
  verifySubjectAltNames?: readonly string[] | null
  alpnProtocols?: readonly string[] | null
  keyExchangeGroups?: readonly KeyExchangeGroupName[] | null
}

export interface ClientTls {
  /** Options for `tls.connect`; the caller adds the address or the socket. */
  connectOptions: ConnectionOptions
  /** Hash of the settings: connections with equal keys may be shared. */
  key: string
}

/** `offer` is the ALPN list for a config without one: the caller narrows it to the HTTP versions it wants. */
export function createClientTls(
  config: BackendTlsConfig,
  host: string,
  offer: readonly string[] = ['h2', 'http/1.1'],
): { tls: ClientTls } | { problem: string } {
  const name = config.sni ?? host
  const alpn = config.alpnProtocols ?? offer
  const authorities = authoritiesOf(config)
  const problem = authorities === null ? null : findAuthorityProblem(authorities)
  if (problem !== null) return { problem }
  try {
    const connectOptions: ConnectionOptions = {
      secureContext: contextFor(config),
      // Server names must not be IP addresses (RFC 6066 3).
      servername: isIP(name) ? '' : name,
      ALPNProtocols: [...alpn],
      rejectUnauthorized: config.insecureSkipVerify !== 'All',
      checkServerIdentity: createIdentityCheck(config, name),
    }
    return { tls: { connectOptions, key: hashOf([config, name, alpn]) } }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Returns the problem with the certificates of the config; null when they are valid. */
export function clientTlsProblem(config: BackendTlsConfig): ClientTlsProblem | null {
  const authorities = authoritiesOf(config)
  const distrust = authorities === null ? null : findAuthorityProblem(authorities)
  if (distrust !== null) {
    return { of: config.caCertificateRefs ? 'caCertificateRefs' : 'mtlsCertificateRef', message: distrust }
  }
  if (!config.mtlsCertificateRef) return null
  try {
    contextFor(config)
    return null
  } catch (error) {
    const message = `a pair of certificate and key that TLS refuses (${opensslReason(error)})`
    return { of: 'mtlsCertificateRef', message }
  }
}

interface ClientTlsProblem {
  of: 'caCertificateRefs' | 'mtlsCertificateRef'
  message: string
}

/** A context with the system's CAs takes megabytes and milliseconds, so hosts with equal settings share a context. */
const contextsByKey = new LRUCache<string, SecureContext>({ max: 256 })

function contextFor(config: BackendTlsConfig): SecureContext {
  const { mtlsCertificateRef: own, keyExchangeGroups: groups } = config
  const ca = authoritiesOf(config)
  const key = hashOf([own?.cert, own?.key, ca, groups])
  const known = contextsByKey.get(key)
  if (known) return known
  const context = createSecureContext({
    ca: ca ?? systemAuthorities(),
    minVersion: 'TLSv1.2',
    ...(own && { cert: own.cert, key: own.key }),
    ...(groups && { ecdhCurve: groupList(groups) }),
  })
  contextsByKey.set(key, context)
  return context
}

function authoritiesOf(config: BackendTlsConfig): string | null {
  return config.caCertificateRefs ?? config.mtlsCertificateRef?.ca ?? null
}

let loadedAuthorities: string[] | null = null

/** Images without a system trust store use the store bundled with the runtime. */
function systemAuthorities(): string[] {
  if (loadedAuthorities === null) {
    const system = getCACertificates('system')
    loadedAuthorities = [...(system.length > 0 ? system : getCACertificates('bundled')), ...getCACertificates('extra')]
  }
  return loadedAuthorities
}

/**
 * '*' sends a key share at once. The first two groups get one, so that a server without the first group needs no second
 * round trip.
 */
function groupList(groups: readonly KeyExchangeGroupName[]): string {
  return groups.map((name, index) => (index < 2 ? `*${groupByName[name]}` : groupByName[name])).join(':')
}

function createIdentityCheck(config: BackendTlsConfig, name: string) {
  if (config.insecureSkipVerify) return () => undefined
  const names = config.verifySubjectAltNames ?? [name]
  return (_host: string, certificate: PeerCertificate): Error | undefined => {
    if (names.some((name) => carriesName(certificate, name))) return undefined
    return new Error(`the certificate of the backend is not for ${names.join(' or ')}`)
  }
}

function carriesName(certificate: PeerCertificate, name: string): boolean {
  // The runtime would fall back to the common name, which is obsolete (RFC 9525 section 2).
  const alternatives = certificate.subjectaltname
  if (!alternatives) return false
  // The runtime quotes values that contain a comma, and escapes the comma.
  if (name.includes('://')) return alternatives.split(', ').includes(`URI:${name}`)
  return checkServerIdentity(name, certificate) === undefined
}

function hashOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
