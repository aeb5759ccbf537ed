/** The forms in which servers may read the URI of a resource. */
interface UriForms {
  /** Whether the text is the form to which servers normalize all other spellings. */
  isCanonical: boolean
  /** The URI with its escaped separators decoded. Allow rules must match these forms too. */
  decoded: readonly string[]
  /** Every other form that a server may read. A deny rule that matches one of them denies the URI. */
  equivalents: readonly string[]
}

/**
 * Reads the URI as servers do: the WHATWG parser of the JavaScript and Python SDKs, RFC 3986 normalization, and servers
 * that turn the path into a file name.
 */
export function uriForms(text: string): UriForms {
  const canonical = normalizeUri(text)
  const hasScheme = SCHEME.test(canonical)
  const isPlain = hasScheme && canonical === text && !/[%?]/.test(text) && lowerUri(text) === text
  if (isPlain) return PLAIN
  const decoded = decodeRounds(text, decodeSeparators)
  const whole = decodeRounds(text, decodeAll)
  const parsed = URL.canParse(text) ? [new URL(text).href] : []
  const forms = [canonical, ...parsed, ...decoded, ...whole].flatMap((form) => [form, normalizeUri(form)])
  const equivalents = new Set(
    forms.flatMap((form) => [form, lowerUri(form), withoutQuery(form), withoutQuery(lowerUri(form))]),
  )
  equivalents.delete(text)
  const isCanonical = hasScheme && canonical === text && decoded.length < MOST_ROUNDS
  return { isCanonical, decoded, equivalents: [...equivalents] }
}

interface UriParts {
  scheme: string
  /** With its `//`; empty when the URI has none. */
  authority: string
  path: string
  /** With its `?`. */
  query: string
  /** With its `#`. */
  fragment: string
}

function splitUri(text: string): UriParts | null {
  const found = /^([A-Za-z][A-Za-z0-9+.-]*):(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text)
  if (found === null) return null
  const [, scheme = '', authority = '', path = '', query = '', fragment = ''] = found
  return { scheme, authority, path, query, fragment }
}

function joinUri({ scheme, authority, path, query, fragment }: UriParts): string {
  return `${scheme}:${authority}${path}${query}${fragment}`
}

/** The canonical spelling. Hosts keep their case unless the scheme is one of the web, as in the parsers of the SDKs. */
function normalizeUri(text: string): string {
  // Parsers drop these characters anywhere, and blanks at both ends; a backslash is a separator to them.
  const cleaned = text
    .replace(/[\t\n\r]/g, '')
    .replace(/^[\0- ]+|[\0- ]+$/g, '')
    .replaceAll('\\', '/')
  const parts = splitUri(cleaned)
  if (parts === null) return cleaned
  const { query } = parts
  const joined = joinUri({
    scheme: parts.scheme.toLowerCase(),
    authority: normalizeAuthority(parts.authority, parts.scheme.toLowerCase()),
    path: removeDots(normalizeEscapes(parts.path), parts.authority !== ''),
    query: query === '?' ? '' : normalizeEscapes(query),
    fragment: '',
  })
  return WEB_SCHEMES.has(parts.scheme.toLowerCase()) && URL.canParse(joined) ? new URL(joined).href : joined
}

function normalizeAuthority(authority: string, scheme: string): string {
  if (authority === '') return ''
  const host = decodeAll(authority.slice(authority.lastIndexOf('@') + 1).replace(/^\/\//, ''))
  const port = /:(\d*)$/.exec(host)?.[1]
  const name = (port === undefined ? host : host.slice(0, -port.length - 1)).replace(/\.+$/, '')
  const number = port === undefined || port === '' ? null : Number(port)
  const kept = number === null || number === DEFAULT_PORTS.get(scheme) ? '' : `:${number}`
  // The brackets of an IPv6 address are the only characters that hosts have and paths have not.
  const escaped = /^\[[0-9A-Fa-f:.]+\]$/.test(name) ? name.toLowerCase() : normalizeEscapes(name)
  return `//${WEB_SCHEMES.has(scheme) ? escaped.toLowerCase() : escaped}${kept}`
}

/** Normalizes percent escapes: upper case, none for unreserved characters, and one for each byte that needs it. */
function normalizeEscapes(text: string): string {
  const decoded = text.replace(/%([0-9A-Fa-f]{2})/g, (escape, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    if (UNRESERVED.test(character)) return character
    return CONTROL.test(character) ? '' : escape.toUpperCase()
  })
  return decoded.replace(/%(?![0-9A-F]{2})|[^\w!#$&'()*+,./:;=?@~%-]/gu, (character) =>
    [...Buffer.from(character, 'utf8')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  )
}

/** Removes dot segments, and empty segments, which file systems ignore. */
function removeDots(path: string, hasAuthority: boolean): string {
  const isRooted = path.startsWith('/')
  const segments = path.split('/')
  const kept: string[] = []
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1
    if (segment === '..') kept.pop()
    else if (segment !== '.' && (segment !== '' || isLast)) kept.push(segment)
    if (isLast && (segment === '.' || segment === '..')) kept.push('')
  }
  const joined = kept.join('/')
  return isRooted || (hasAuthority && joined !== '') ? `/${joined}` : joined
}

function lowerUri(text: string): string {
  const parts = splitUri(text)
  if (parts === null) return text
  return joinUri({ ...parts, scheme: parts.scheme.toLowerCase(), authority: parts.authority.toLowerCase() })
}

function withoutQuery(text: string): string {
  return text.replace(/[?#].*$/s, '')
}

/** Returns the form after each round of decoding, because servers may decode more than once. */
function decodeRounds(text: string, decode: (text: string) => string): string[] {
  const forms: string[] = []
  let last = text
  while (forms.length < MOST_ROUNDS) {
    const next = decode(last)
    if (next === last) break
    forms.push(normalizeUri(next))
    last = next
  }
  return forms
}

function decodeSeparators(text: string): string {
  return text.replace(/%(?:2F|5C|25)/gi, (escape) => decodeURIComponent(escape))
}

/** Bytes that are not UTF-8 stay escaped. */
function decodeAll(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}

const SCHEME = /^[a-z][a-z0-9+.-]*:/
const PLAIN: UriForms = { isCanonical: true, decoded: [], equivalents: [] }
const UNRESERVED = /[\w.~-]/
const CONTROL = /[\0-\x1f\x7f]/
const WEB_SCHEMES = new Set(['http', 'https', 'ws', 'wss', 'ftp', 'file'])
const DEFAULT_PORTS = new Map([
  ['http', 80],
  ['ws', 80],
  ['https', 443],
  ['wss', 443],
  ['ftp', 21],
])
/** More layers of escapes than this are refused. */
const MOST_ROUNDS = 4
