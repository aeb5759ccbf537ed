import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { formatHostPort } from './address.ts'
import type { Address } from './address.ts'

export interface Refusal {
  status: 401 | 403
  message: string
}

/** Decides who may talk to the admin server; null lets the request in. */
export function createGuard(address: Address, token: string | null): (request: IncomingMessage) => Refusal | null {
  return (request) => {
    // A web page can neither reach a unix socket nor make a browser resolve a name to one.
    if (address.kind === 'tcp') {
      const host = onlyHost(request)
      if (host === null || !ownHosts(request, address.hosts).has(host)) return refuse(403, 'host not allowed')
      const { origin } = request.headers
      if (origin !== undefined && origin.toLowerCase() !== `http://${host}`) return refuse(403, 'origin not allowed')
    }
    if (token === null) return null
    const [, given = ''] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '') ?? []
    return isSameSecret(given, token) ? null : refuse(401, 'token required')
  }
}

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

function refuse(status: 401 | 403, message: string): Refusal {
  return { status, message: `${message}\n` }
}
