/** Why a request target is rejected, as a stable code. */
interface TargetProblem {
  problem: 'bad_target' | 'bad_host' | 'missing_host' | 'authority_mismatch' | 'ambiguous_path'
}

interface Target {
  authority: string
  /** Path and query; empty for CONNECT. */
  target: string
}

/**
 * Reduces the four forms of RFC 9112 section 3.2 to authority and path. The path is never rewritten: matching, policies
 * and forwarding all use the same bytes, so a path that a backend might resolve differently is rejected. A plain target
 * has neither dots nor escapes.
 */
export function readTarget(
  method: string,
  target: string,
  host: string | null,
  isPlainTarget?: boolean,
): Target | TargetProblem {
  const first = target.charCodeAt(0)
  if (method === 'CONNECT') {
    if (host !== null && host.toLowerCase() !== target.toLowerCase()) return MISMATCH
    return isAuthority(target) && /:0*[1-9][0-9]*$/.test(target) ? { authority: target, target: '' } : BAD_TARGET
  }
  if (first === SLASH) {
    if (host === null) return MISSING_HOST
    if (!isAuthority(host)) return BAD_HOST
    return isPlainTarget !== true && isAmbiguousPath(target) ? AMBIGUOUS : { authority: host, target }
  }
  if (target === '*') {
    if (method !== 'OPTIONS') return BAD_TARGET
    if (host === null) return MISSING_HOST
    return isAuthority(host) ? { authority: host, target } : BAD_HOST
  }
  const absolute = /^https?:\/\/([^/?]*)(.*)$/i.exec(target)
  if (absolute === null) return BAD_TARGET
  const [, authority = '', rest = ''] = absolute
  if (!isAuthority(authority)) return BAD_HOST
  if (host === null) return MISSING_HOST
  if (host.toLowerCase() !== authority.toLowerCase()) return MISMATCH
  // The request is about the server as a whole, like `*` (RFC 9112 section 3.2.4).
  if (method === 'OPTIONS' && rest === '') return { authority, target: '*' }
  const path = rest.startsWith('/') ? rest : '/' + rest
  return isAmbiguousPath(path) ? AMBIGUOUS : { authority, target: path }
}

/** Returns whether the text is host[:port] only: no user, no space, a valid port. */
export function isAuthority(text: string): boolean {
  // Clients of one gateway use the same few hosts again and again.
  if (text === lastAuthority) {
    // The next comparison with the same string object need not read the characters.
    lastAuthority = text
    return true
  }
  if (text.length > 261) return false
  const parts = NAME.exec(text) ?? ADDRESS.exec(text)
  if (parts === null || Number(parts[1] ?? 0) > 65_535) return false
  lastAuthority = text
  return true
}

let lastAuthority = ''
/**
 * An escape may only stand for a byte beyond ASCII: other escapes would decode to a control character, a delimiter or a
 * second spelling.
 */
const NAME = /^(?:[A-Za-z0-9_.~!$&'()*+,;=-]|%[89A-Fa-f][0-9A-Fa-f])+(?::([0-9]{1,5}))?$/
const ADDRESS = /^\[[0-9A-Fa-f:.]+\](?::([0-9]{1,5}))?$/

/**
 * Finds dot segments in any spelling; an encoded slash or backslash counts as a separator, because backends decode it.
 */
export function isAmbiguousPath(target: string): boolean {
  // Nearly every path has neither a dot after a slash nor an escape.
  if (!suspicious.test(target)) return false
  const query = target.indexOf('?')
  const path = query === -1 ? target : target.slice(0, query)
  return path
    .replace(/%2e/gi, '.')
    .replace(/%2f|%5c|\\/gi, '/')
    .split('/')
    .some((segment) => /^\.\.?(;.*)?$/.test(segment))
}

const suspicious = /[/\\]\.|%(?:2e|2f|5c)/i
const SLASH = 47

const BAD_TARGET: TargetProblem = { problem: 'bad_target' }
const BAD_HOST: TargetProblem = { problem: 'bad_host' }
const MISSING_HOST: TargetProblem = { problem: 'missing_host' }
const MISMATCH: TargetProblem = { problem: 'authority_mismatch' }
const AMBIGUOUS: TargetProblem = { problem: 'ambiguous_path' }
