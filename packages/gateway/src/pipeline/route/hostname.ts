/** Returns the host of an authority for routing: lower case, no port, no IPv6 brackets, no trailing dot. */
export function normalizeHost(authority: string): string {
  // Clients of one gateway use the same few hosts, so the last result is cached.
  if (authority !== lastAuthority) lastHost = normalize(authority)
  // Kept even if it is equal, because the next comparison with the same string object need not read the characters.
  lastAuthority = authority
  return lastHost
}

let lastAuthority = ''
let lastHost = ''

function normalize(authority: string): string {
  let end = authority.length
  let start = 0
  if (authority.charCodeAt(0) === OPENING_BRACKET) {
    const bracket = authority.indexOf(']')
    if (bracket !== -1) {
      start = 1
      end = bracket
    }
  } else {
    const colon = authority.indexOf(':')
    // A second colon makes it a bare IPv6 address, which has no port.
    if (colon !== -1 && authority.indexOf(':', colon + 1) === -1) end = colon
  }
  if (end > start && authority.charCodeAt(end - 1) === DOT) end--
  return authority.slice(start, end).toLowerCase()
}

/** Values by hostname; `*.example.com` is a wildcard of any depth, and both '' and '*' stand for every host. */
export interface HostnameTable<V> {
  /** Returns the value of the most specific hostname: exact, then the longest wildcard, then the value for every host. */
  best(host: string): V | null
  /** Calls `visit` with the matching values, most specific first, until it returns a result. */
  first<C, R>(host: string, visit: (value: V, context: C) => R | null, context: C): R | null
}

/** Creates a table; the first of two entries with one hostname wins. Hosts to look up must be normalized. */
export function createHostnameTable<V>(entries: Iterable<readonly [hostname: string, value: V]>): HostnameTable<V> {
  const exact = new Map<string, V>()
  const others = new Map<string, V>()
  for (const [hostname, value] of entries) {
    const name = canonicalHostname(hostname)
    putFirst(isExact(name) ? exact : others, name, value)
  }
  return hostnameTableOf(exact, others)
}

/** Whether a canonical hostname matches a single host only. */
export function isExact(canonical: string): boolean {
  return canonical !== '' && !canonical.startsWith('*.')
}

/** Creates a table from the values of exact hostnames and of all others, both by canonical names. */
export function hostnameTableOf<V>(
  exact: { get(host: string): V | undefined },
  others: ReadonlyMap<string, V>,
): HostnameTable<V> {
  const bySuffix = new Map<string, V>()
  let everyHost: V | null = null
  let maxLabels = 0
  for (const [name, value] of others) {
    if (name === '') {
      everyHost = value
      continue
    }
    const suffix = name.slice(1)
    bySuffix.set(suffix, value)
    maxLabels = Math.max(maxLabels, countDots(suffix))
  }
  return { best, first }

  function best(host: string): V | null {
    return first(host, itself, null)
  }

  function first<C, R>(host: string, visit: (value: V, context: C) => R | null, context: C): R | null {
    const own = exact.get(host)
    if (own !== undefined) {
      const found = visit(own, context)
      if (found !== null) return found
    }
    if (maxLabels > 0) {
      // The number of lookups is limited by the labels of the deepest wildcard, not by the dots in the client's host.
      let dot = startOfLastLabels(host, maxLabels)
      // A wildcard needs at least one character in its place.
      if (dot === 0) dot = host.indexOf('.', 1)
      for (; dot !== -1; dot = host.indexOf('.', dot + 1)) {
        const value = bySuffix.get(host.slice(dot))
        if (value === undefined) continue
        const found = visit(value, context)
        if (found !== null) return found
      }
    }
    return everyHost === null ? null : visit(everyHost, context)
  }
}

/** Returns the canonical form of a hostname in the config; '' stands for every host. */
export function canonicalHostname(hostname: string): string {
  return hostname === '*' ? '' : normalizeHost(hostname)
}

const OPENING_BRACKET = 0x5b
const DOT = 0x2e

function itself<V>(value: V): V {
  return value
}

function putFirst<V>(map: Map<string, V>, key: string, value: V): void {
  if (!map.has(key)) map.set(key, value)
}

function countDots(text: string): number {
  let count = 0
  for (let dot = text.indexOf('.'); dot !== -1; dot = text.indexOf('.', dot + 1)) count++
  return count
}

/** Returns the index of the dot before the last `count` labels, or of the first dot if there are fewer; -1 without a dot. */
function startOfLastLabels(host: string, count: number): number {
  let start = -1
  for (let dot = host.lastIndexOf('.'); dot !== -1 && count > 0; count--) {
    start = dot
    dot = dot === 0 ? -1 : host.lastIndexOf('.', dot - 1)
  }
  return start
}
