import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { formatHostPort } from './address.ts'
import type { Address } from './address.ts'
import { pathOf } from './http.ts'
import { PROOF_HEADER, type Sessions } from './sessions.ts'

interface Refusal {
  status: 401 | 403
  message: string
}

/** Requests that change something must have this header: browsers let a page of another origin send it only with permission. */
const SAME_ORIGIN_HEADER = 'x-portico-same-origin'

/** Decides whether the admin server serves a request: null allows it. `sessions` are the sessions of the web UI. */
export function createGuard(
  address: Address,
  token: string | null,
  sessions: Sessions | null = null,
): (request: IncomingMessage) => Refusal | null {
  return (request) => {
    // A web page can neither reach a unix socket nor make a browser resolve a name to one.
    if (address.kind === 'tcp') {
      const host = onlyHost(request)
      if (host === null || !ownHosts(request, address.hosts).has(host)) return denyRequest(403, 'host not allowed')
      const { origin } = request.headers
      if (origin !== undefined && origin.toLowerCase() !== `http://${host}`)
        return denyRequest(403, 'origin not allowed')
    }
    if (!isFromHere(request)) return denyRequest(403, 'origin not allowed')
    if (needsHeader(request) && request.headers[SAME_ORIGIN_HEADER] !== '1')
      return denyRequest(403, `header ${SAME_ORIGIN_HEADER} required`)
    if (token === null || (sessions !== null && isLetIn(request, sessions))) return null
    return showsToken(request, token) ? null : denyRequest(401, 'token required')
  }
}

/** Whether the token itself comes with the request. */
export function showsToken(request: IncomingMessage, token: string): boolean {
  const [, given = ''] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
  return isSameSecret(given, token)
}

/** Without a session only the login pages; with the cookie all pages; with cookie and proof header everything. */
function isLetIn(request: IncomingMessage, sessions: Sessions): boolean {
  const { cookie, [PROOF_HEADER]: proof } = request.headers
  const path = pathOf(request) ?? ''
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && OPEN_TO_ALL.has(path)) return true
  // Only the token opens a session: its life is bounded.
  if (path === SESSION_PATH) return request.method !== 'POST' && sessions.isProven(cookie, proof)
  return sessions.isProven(cookie, proof) || (isRead && isPage(path) && sessions.isOpen(cookie))
}

/** The files of the login page, which need no login. */
const OPEN_TO_ALL: ReadonlySet<string> = new Set(['/ui/login', '/ui/login.js', '/ui/plain.css'])

export const SESSION_PATH = '/ui/session'

export function isPage(path: string): boolean {
  return path === '/ui' || path.startsWith('/ui/')
}

/** Checks the origin that browsers report. A link from another site may open a page, and nothing else. */
function isFromHere(request: IncomingMessage): boolean {
  const { 'sec-fetch-site': site = 'none', 'sec-fetch-mode': mode } = request.headers
  if (site === 'none' || site === 'same-origin') return true
  return request.method === 'GET' && mode === 'navigate' && isPage(pathOf(request) ?? '')
}

function needsHeader(request: IncomingMessage): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD' && !CHANGES_NOTHING.has(pathOf(request) ?? '')
}

/** Paths that may be posted to and only tell something. */
const CHANGES_NOTHING: ReadonlySet<string> = new Set(['/debug/trace'])

/** A page that rebinds its own name to this address still sends that name as Host. */
function ownHosts(request: IncomingMessage, configured: readonly string[]): Set<string> {
  const { localPort = 0, localAddress = '' } = request.socket
  // With a wildcard address, the one the client really used.
  const used = localAddress.startsWith('::ffff:') ? localAddress.slice('::ffff:'.length) : localAddress
  const hosts = ['localhost', '127.0.0.1', '::1', used, ...configured]
  const withPort = hosts.map((host) => formatHostPort(host, localPort))
  return new Set(localPort === 80 ? [...withPort, ...withPort.map((host) => host.slice(0, -':80'.length))] : withPort)
}

function onlyHost(request: IncomingMessage): string | null {
  const [host, ...others] = request.headersDistinct.host ?? []
  return host === undefined || others.length > 0 ? null : host.toLowerCase()
}

function isSameSecret(given: string, expected: string): boolean {
  // Digests have one length, so the comparison tells nothing of the length of the token either.
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function denyRequest(status: 401 | 403, message: string): Refusal {
  return { status, message: `${message}\n` }
}
