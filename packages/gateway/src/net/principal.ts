import type { X509Certificate } from 'node:crypto'

/**
 * Who a certificate says that its owner is: its first URI (as of SPIFFE), else its first host name, else its subject, in the
 * order of RFC 4514.
 */
export function principalOf({ subjectAltName, subject }: Pick<X509Certificate, 'subjectAltName' | 'subject'>): string {
  return (
    firstName('URI', subjectAltName) ??
    firstName('DNS', subjectAltName) ??
    (subject ?? '').split('\n').reverse().join(',')
  )
}

/** Node puts names in quotes, as JSON does, where they could be taken for several. */
function firstName(kind: 'URI' | 'DNS', names: string | undefined): string | null {
  for (const [, type, name = ''] of (names ?? '').matchAll(NAMES)) {
    if (type === kind) return name.startsWith('"') ? (JSON.parse(name) as string) : name
  }
  return null
}

const NAMES = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g
