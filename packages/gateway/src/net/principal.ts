import type { X509Certificate } from 'node:crypto'

/**
 * Who a certificate says that its owner is: its first URI (as of SPIFFE), else its first host name, else its subject, in the
 * order of RFC 4514.
 */
export function principalOf({ subjectAltName, subject }: Pick<X509Certificate, 'subjectAltName' | 'subject'>): string {
  return firstName('URI', subjectAltName) ?? firstName('DNS', subjectAltName) ?? subjectText(subject)
}

/** A name as Node prints it, one part to a line, in the order of RFC 4514. */
export function subjectText(name: string | undefined): string {
  return (name ?? '').split('\n').reverse().join(',')
}

/** Every name with its kind, as `DNS:a.example`. */
export function namesIn(names: string | undefined): string[] {
  return [...(names ?? '').matchAll(NAMES)].map(([, type = '', name = '']) => `${type}:${unquoted(name)}`)
}

function unquoted(name: string): string {
  return name.startsWith('"') ? (JSON.parse(name) as string) : name
}

/** Node puts names in quotes, as JSON does, where they could be taken for several. */
function firstName(kind: 'URI' | 'DNS', names: string | undefined): string | null {
  for (const [, type, name = ''] of (names ?? '').matchAll(NAMES)) {
    if (type === kind) return unquoted(name)
  }
  return null
}

const NAMES = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g
