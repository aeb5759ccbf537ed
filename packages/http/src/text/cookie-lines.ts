/** Lines of a `Cookie` header (RFC 6265); HTTP/2 clients may spread cookies over several lines. */

/** Returns the values of every cookie of that name; names are case-sensitive. */
export function cookieValues(lines: readonly string[], name: string): string[] {
  return lines
    .flatMap((line) => line.split(';'))
    .filter((pair) => cookieName(pair) === name)
    .map((pair) => unquote(pair.slice(pair.indexOf('=') + 1).trim()))
}

/** Returns the name in `name=value`; null without an equals sign. */
export function cookieName(pair: string): string | null {
  const equals = pair.indexOf('=')
  return equals === -1 ? null : pair.slice(0, equals).trim()
}

function unquote(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value
}
