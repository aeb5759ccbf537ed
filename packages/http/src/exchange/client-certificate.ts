import type { TLSSocket } from 'node:tls'
import type { X509Certificate } from 'node:crypto'

/** The fields of a verified client certificate that expressions can read. */
export interface ClientCertificate {
  /** The first URI, or else the first host name, or else the subject. */
  readonly principal: string
  /** Subject in the order of RFC 4514: `CN=client,O=Example`. */
  readonly subject: string
  readonly issuer: string
  /** Names with their types: `DNS:a.example`, `URI:spiffe://example/client`. */
  readonly subjectAltNames: readonly string[]
  /** Hexadecimal, lower case. */
  readonly serialNumber: string
  /** SHA-256 of the certificate, in 64 hexadecimal digits, lower case. */
  readonly fingerprint: string
}

function readClientCertificate(certificate: X509Certificate): ClientCertificate {
  return {
    principal: principalOf(certificate),
    subject: subjectText(certificate.subject),
    issuer: subjectText(certificate.issuer),
    subjectAltNames: namesIn(certificate.subjectAltName),
    serialNumber: certificate.serialNumber.toLowerCase(),
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  }
}

/**
 * Returns the principal of a certificate: its first URI (as in SPIFFE), or else its first host name, or else its
 * subject in the order of RFC 4514.
 */
export function principalOf({ subjectAltName, subject }: Pick<X509Certificate, 'subjectAltName' | 'subject'>): string {
  return firstName('URI', subjectAltName) ?? firstName('DNS', subjectAltName) ?? subjectText(subject)
}

/** Returns the URIs among the names of a certificate. */
export function urisIn({ subjectAltName }: Pick<X509Certificate, 'subjectAltName'>): string[] {
  return namesIn(subjectAltName)
    .filter((name) => name.startsWith(URI))
    .map((name) => name.slice(URI.length))
}

/** Converts a name from Node's format, one part per line, to the order of RFC 4514. */
function subjectText(name: string | undefined): string {
  return (name ?? '').split('\n').reverse().join(',')
}

/** Returns every name with its type, such as `DNS:a.example`. */
function namesIn(names: string | undefined): string[] {
  return [...(names ?? '').matchAll(NAMES)].map(([, type = '', name = '']) => `${type}:${unquoted(name)}`)
}

function unquoted(name: string): string {
  return name.startsWith('"') ? (JSON.parse(name) as string) : name
}

/** Node quotes names, in JSON syntax, that could be mistaken for several names. */
function firstName(kind: 'URI' | 'DNS', names: string | undefined): string | null {
  for (const [, type, name = ''] of (names ?? '').matchAll(NAMES)) {
    if (type === kind) return unquoted(name)
  }
  return null
}

const URI = 'URI:'
const NAMES = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g

/** Returns the certificate that the client has shown; undefined for none, and for one that no CA vouches for. */
export function verifiedCertificate(secure: TLSSocket): ClientCertificate | undefined {
  const shown = secure.authorized ? secure.getPeerX509Certificate() : undefined
  return shown === undefined ? undefined : readClientCertificate(shown)
}
