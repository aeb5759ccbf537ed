import type { X509Certificate } from 'node:crypto'

/**
 * Returns the principal of a certificate: its first URI (as in SPIFFE), or else its first host name, or else its
 * subject in the order of RFC 4514.
 */
export function principalOf({ subjectAltName, subject }: Pick<X509Certificate, 'subjectAltName' | 'subject'>): string {
  return firstName('URI', subjectAltName) ?? firstName('DNS', subjectAltName) ?? subjectText(subject)
}

/** Converts a name from Node's format, one part per line, to the order of RFC 4514. */
export function subjectText(name: string | undefined): string {
  return (name ?? '').split('\n').reverse().join(',')
}

/** Returns every name with its type, such as `DNS:a.example`. */
export function namesIn(names: string | undefined): string[] {
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

const NAMES = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g
