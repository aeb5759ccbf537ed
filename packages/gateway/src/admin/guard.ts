import type { IncomingMessage } from 'node:http'
import { formatHostPort } from './address.ts'
import type { Address } from './address.ts'
import { type AdminCaller, type AdminCredential, AdminCredentials } from './credentials.ts'
import { pathOf } from './http.ts'
import { PROOF_HEADER, type Sessions } from './sessions.ts'

interface Refusal {
  status: 401 | 403
  message: string
}

/** Requests that change something must have this header: browsers let a page of another origin send it only with permission. */
const SAME_ORIGIN_HEADER = 'x-portico-same-origin'

/** The decision about a request: who the caller is, or why the request is refused. */
type Admission = { readonly caller: AdminCaller } | { readonly refused: Refusal }

/** Decides whether the admin server serves a request. `sessions` are the sessions of the web UI. */
export function createGuard(
  address: Address,
  credentials: AdminCredentials = new AdminCredentials(null),
  sessions: Sessions | null = null,
): (request: IncomingMessage) => Admission {
  // Tokens may come and go with the config: an address that others can reach stays closed without them.
  const isLocal = address.kind !== 'tcp' || address.loopback
  return (request) => {
    // A web page can neither reach a unix socket nor make a browser resolve a name to one.
    if (address.kind === 'tcp') {
      const host = onlyHost(request)
      if (host === null || !ownHosts(request, address.hosts).has(host)) return refuse(403, 'host not allowed')
      const { origin } = request.headers
      if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) return refuse(403, 'origin not allowed')
    }
    if (!isFromHere(request)) return refuse(403, 'origin not allowed')
    if (needsHeader(request) && request.headers[SAME_ORIGIN_HEADER] !== '1')
      return refuse(403, `header ${SAME_ORIGIN_HEADER} required`)
    if (credentials.all.length === 0 && isLocal) return { caller: { token: null, scope: 'Write', via: 'none' } }
    const presented = credentials.presentedBy(request)
    if (presented !== null) return { caller: callerOf(presented, 'token') }
    const caller = sessions === null ? null : sessionCaller(request, sessions)
    return caller === null ? refuse(401, 'token required') : { caller }
  }
}

/** Without a session only the login pages; with the cookie all pages; with cookie and proof header everything. */
function sessionCaller(request: IncomingMessage, sessions: Sessions): AdminCaller | null {
  const { cookie, [PROOF_HEADER]: proof } = request.headers
  const path = pathOf(request) ?? ''
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && OPEN_TO_ALL.has(path)) return { token: null, scope: 'Read', via: 'none' }
  const proven = sessions.provenBy(cookie, proof)
  // Only the token opens a session: its life is bounded.
  if (path === SESSION_PATH && request.method === 'POST') return null
  if (proven !== null) return callerOf(proven, 'session')
  const shown = isRead && isPage(path) && path !== SESSION_PATH ? sessions.openedBy(cookie) : null
  return shown === null ? null : callerOf(shown, 'session')
}

function callerOf({ name, scope }: AdminCredential, via: AdminCaller['via']): AdminCaller {
  return { token: name, scope, via }
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

function refuse(status: 401 | 403, message: string): Admission {
  return { refused: { status, message: `${message}\n` } }
}
