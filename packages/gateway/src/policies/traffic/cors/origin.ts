/**
 * Returns whether an Origin header is in the configured list, by scheme, host and port; `*` matches any origin, or
 * any part of a host.
 */
export function originMatcher(configured: readonly string[]): (origin: string) => boolean {
  if (configured.includes('*')) return () => true
  const exact = new Set<string>()
  const patterns: Pattern[] = []
  for (const text of configured) {
    const origin = parseOrigin(text)
    if (origin === null) continue
    if (origin.host.includes('*')) patterns.push(patternOf(origin))
    else exact.add(keyOf(origin))
  }
  return (text) => {
    const origin = parseOrigin(text)
    if (origin === null) return false
    if (exact.has(keyOf(origin))) return true
    return patterns.some((pattern) => fits(pattern, origin))
  }
}

interface Origin {
  scheme: string
  host: string
  port: string
}

interface Pattern extends Origin {
  /** Host text before, between and behind the wildcards. */
  first: string
  between: readonly string[]
  last: string
}

/** Returns null for a value that is not an http(s) origin; default ports are made explicit. */
function parseOrigin(text: string): Origin | null {
  const [, scheme, host, port] =
    /^(https?):\/\/(\[[0-9a-f:.]+\]|[a-z0-9._*-]+)(?::([0-9]{1,5}|\*))?$/.exec(text.toLowerCase()) ?? []
  if (scheme === undefined || host === undefined) return null
  return { scheme, host, port: port ?? (scheme === 'https' ? '443' : '80') }
}

function keyOf(origin: Origin): string {
  return `${origin.scheme}://${origin.host}:${origin.port}`
}

function patternOf(origin: Origin): Pattern {
  const [first = '', ...rest] = origin.host.split('*')
  return { ...origin, first, between: rest.slice(0, -1), last: rest.at(-1) ?? '' }
}

function fits(pattern: Pattern, origin: Origin): boolean {
  if (pattern.scheme !== origin.scheme || pattern.port !== origin.port) return false
  const { first, between, last } = pattern
  if (!origin.host.startsWith(first) || !origin.host.endsWith(last)) return false
  let at = first.length
  for (const part of between) {
    const found = origin.host.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return origin.host.length - last.length >= at
}
