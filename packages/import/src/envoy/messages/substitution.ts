const PARTS: Readonly<Record<string, string>> = {
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: 'source.address',
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT: 'source.rawAddress',
  DOWNSTREAM_REMOTE_PORT: 'string(source.port)',
  PROTOCOL: 'request.version',
  DOWNSTREAM_PEER_SUBJECT: 'source.certificate.subject',
  DOWNSTREAM_PEER_ISSUER: 'source.certificate.issuer',
  DOWNSTREAM_PEER_FINGERPRINT_256: 'source.certificate.fingerprint',
}

const REQUEST_PARTS: Readonly<Record<string, string>> = {
  ':path': 'request.pathAndQuery',
  ':method': 'request.method',
  ':authority': 'request.host',
  host: 'request.host',
  ':scheme': 'request.scheme',
}

/**
 * Returns a CEL expression for a text with command operators such as `%REQ(x-team)%`; null when an operator is not
 * known.
 */
export function textExpression(text: string): string | null {
  const tokens = text.match(/%%|%[A-Z_0-9]+(?:\([^)%]*\))?(?::\d+)?%|[^%]+|%/g) ?? []
  const parts: (string | null)[] = []
  let literal = ''
  const flush = (): void => {
    if (literal !== '') parts.push(JSON.stringify(literal))
    literal = ''
  }
  for (const token of tokens) {
    if (token === '%%') literal += '%'
    else if (!token.startsWith('%')) literal += token
    else {
      flush()
      const found = commandExpression(token)
      // A missing header counts as an empty text if the value has other parts.
      const isPart = tokens.length > 1 && found?.startsWith('request.headers') === true
      parts.push(isPart ? `default(${found}, "")` : found)
    }
  }
  flush()
  if (parts.includes(null)) return null
  return parts.length === 0 ? '""' : parts.join(' + ')
}

function commandExpression(token: string): string | null {
  const known = PARTS[token.slice(1, -1)]
  if (known !== undefined) return known
  const name = /^%REQ\((:?[\w-]+)\)%$/.exec(token)?.[1]?.toLowerCase()
  if (name === undefined) return null
  return REQUEST_PARTS[name] ?? (name.startsWith(':') ? null : `request.headers[${JSON.stringify(name)}]`)
}

/** Returns a text without command operators, with `%%` unescaped; null when the text has operators. */
export function literalText(text: string): string | null {
  const rest = text.replaceAll('%%', '')
  return rest.includes('%') ? null : text.replaceAll('%%', '%')
}
