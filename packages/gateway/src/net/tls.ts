import { constants, createHash, hkdfSync, X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls'
import type { ClientCertificates, ListenerTls } from './listener-tls.ts'
import { findAuthorityProblem, opensslReason } from './pem.ts'
import { sendCertificateAlerts } from './tls-alert.ts'
import {
  cipherByName,
  groupByName,
  versionByName,
  type CipherSuiteName,
  type KeyExchangeGroupName,
  type TlsVersionName,
} from './tls-names.ts'

/** The fields of the frontend `tls` policy that shape a handshake; absent ones take the defaults. */
export interface ServerTlsPolicy {
  alpnProtocols?: readonly string[] | null
  minProtocolVersion?: TlsVersionName | null
  maxProtocolVersion?: TlsVersionName | null
  cipherSuites?: readonly CipherSuiteName[] | null
  keyExchangeGroups?: readonly KeyExchangeGroupName[] | null
  clientCertificates?: ClientCertificates | null
}

export interface ServerTls {
  /** Hash of certificates, key and policy: equal keys behave equally. */
  key: string
  /** Takes a connection whose first bytes are unread; `done` is called at most once. */
  handshake: (socket: Socket, done: (result: HandshakeResult) => void) => void
}

/** Why there is no TLS; the certificate stands for its key too. */
export interface TlsProblem {
  of: 'policy' | 'cert' | 'root'
  message: string
}

export type HandshakeResult =
  | { socket: TLSSocket }
  /** `isClientCertificate` when the client sent no certificate, or one that is refused. */
  | { reason: string; isClientCertificate: boolean }

/** `ticketSecret`, shared by the workers, lets a client resume its session on any of them. */
export function createServerTls(
  listener: ListenerTls,
  policy: ServerTlsPolicy | null,
  ticketSecret?: Buffer,
  known: ServerTls | null = null,
): { tls: ServerTls } | { problem: TlsProblem } {
  const key = createHash('sha256')
    .update(
      JSON.stringify([
        listener.cert,
        listener.key,
        listener.root,
        policy,
        listener.others,
        listener.clientsMayLack,
        listener.clientCertificates,
      ]),
    )
    .digest('hex')
  if (known?.key === key) return { tls: known }
  const conflict = findConflict(policy ?? {})
  if (conflict !== null) return { problem: { of: 'policy', message: conflict } }
  const distrust = listener.root === null ? null : findAuthorityProblem(listener.root)
  if (distrust !== null) return { problem: { of: 'root', message: distrust } }
  try {
    const options = serverOptions(listener, policy ?? {}, { key, ticketSecret })
    const server = createServer(options)
    if (listener.others !== undefined) addCertificates(server, options, listener)
    const sendAlert = options.requestCert === true ? sendCertificateAlerts(server, rawSocketOf) : null
    const refuseOptional = mayLackCertificate(listener, policy) ? sendAlert : null
    return { tls: { key, handshake: createHandshake(server, refuseOptional) } }
  } catch (error) {
    return {
      problem: { of: 'cert', message: `a pair of certificate and key that TLS refuses (${opensslReason(error)})` },
    }
  }
}

const longestTimeout = 2 ** 31 - 1

function serverOptions(
  listener: ListenerTls,
  policy: ServerTlsPolicy,
  session: { key: string; ticketSecret: Buffer | undefined },
): TlsOptions {
  const suites = policy.cipherSuites ?? (Object.keys(cipherByName) as CipherSuiteName[])
  const { serves12, serves13 } = versionsOf(policy)
  const options: TlsOptions = {
    cert: listener.cert,
    key: listener.key,
    minVersion: versionByName[serves12 ? '1.2' : '1.3'],
    maxVersion: versionByName[serves13 ? '1.3' : '1.2'],
    ciphers: suites.map((name) => cipherByName[name]).join(':'),
    honorCipherOrder: true,
    ecdhCurve: groupList(policy.keyExchangeGroups),
    ALPNProtocols: [...(policy.alpnProtocols ?? ['h2', 'http/1.1'])],
    // HTTP/2 forbids renegotiation, and it lets a client spend our CPU.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // The deadline is the caller's, because it covers the wait for the hello too.
    handshakeTimeout: longestTimeout,
    // A session of one listener must not open another one that asks for a client certificate.
    sessionIdContext: session.key.slice(0, 32),
  }
  if (session.ticketSecret) {
    options.ticketKeys = Buffer.from(hkdfSync('sha256', session.ticketSecret, '', `tickets ${session.key}`, 48))
  }
  if (listener.root === null) return options
  const rejectUnauthorized = listener.clientsMayLack !== true && !mayLackCertificate(listener, policy)
  return { ...options, ca: listener.root, requestCert: true, rejectUnauthorized }
}

/** Clients may come without a certificate; one that they show is verified. */
function mayLackCertificate(listener: ListenerTls, policy: ServerTlsPolicy | null): boolean {
  if (listener.root === null || listener.clientsMayLack === true) return false
  return (listener.clientCertificates ?? policy?.clientCertificates) === 'Request'
}

/** Each is shown to those who ask for one of its names; of two with the same name the first. */
function addCertificates(server: Server, options: TlsOptions, { cert, key, others = [] }: ListenerTls): void {
  // The server looks at those that were added last first.
  for (const pair of [{ cert, key }, ...others].toReversed()) {
    for (const name of namesOf(pair.cert)) server.addContext(name, { ...options, ...pair })
  }
}

function namesOf(pem: string): string[] {
  const { subjectAltName = '', subject } = new X509Certificate(pem)
  const names = subjectAltName.split(', ').filter((entry) => entry.startsWith('DNS:'))
  if (names.length > 0) return names.map((entry) => entry.slice('DNS:'.length))
  const common = /^CN=(.+)$/m.exec(subject)?.[1]
  return common === undefined ? [] : [common]
}

/** OpenSSL would take these settings and then refuse every client. */
function findConflict(policy: ServerTlsPolicy): string | null {
  const { serves12, serves13 } = versionsOf(policy)
  if (serves12 || serves13) return null
  const isInverted = policy.minProtocolVersion === '1.3' && policy.maxProtocolVersion === '1.2'
  return isInverted
    ? 'minProtocolVersion is above maxProtocolVersion'
    : 'cipherSuites lists none of the only TLS version that is allowed'
}

/** A version is served when the bounds allow it and at least one listed suite belongs to it. */
function versionsOf(policy: ServerTlsPolicy): { serves12: boolean; serves13: boolean } {
  const suites = policy.cipherSuites ?? (Object.keys(cipherByName) as CipherSuiteName[])
  return {
    serves12: policy.minProtocolVersion !== '1.3' && suites.some((name) => !name.startsWith('TLS13_')),
    serves13: policy.maxProtocolVersion !== '1.2' && suites.some((name) => name.startsWith('TLS13_')),
  }
}

/** Groups joined by ':' are equals among which the client's key share decides; '/' makes a strict order. */
function groupList(groups: readonly KeyExchangeGroupName[] | null | undefined): string {
  return groups ? groups.map((name) => groupByName[name]).join('/') : Object.values(groupByName).join(':')
}

/**
 * The server never listens: connections are injected, as its 'connection' event is documented to allow, and so
 * client certificates are judged by the runtime itself (a bare TLSSocket of a server accepts any certificate). `refuseOptional` tells
 * a client why its certificate is refused where none is required; null where one is.
 */
function createHandshake(server: Server, refuseOptional: ((socket: TLSSocket) => void) | null): ServerTls['handshake'] {
  const pending = new WeakMap<Socket, (result: HandshakeResult) => void>()
  function finish(tlsSocket: TLSSocket, result: HandshakeResult): void {
    const raw = rawSocketOf(tlsSocket)
    const done = pending.get(raw)
    pending.delete(raw)
    if (done) done(result)
    // Closing within the handshake's own callback takes the process down.
    else setImmediate(() => tlsSocket.destroy())
  }
  server.on('secureConnection', (socket) => {
    // The runtime lets in whoever need not show a certificate, also with one that nobody vouches for.
    if (refuseOptional !== null && !socket.authorized && socket.getPeerX509Certificate() !== undefined) {
      refuseOptional(socket)
      const reason = `client certificate: ${String(socket.authorizationError)}`
      // Closing within the handshake's own callback takes the process down.
      setImmediate(() => {
        finish(socket, { reason, isClientCertificate: true })
        socket.destroy()
      })
      return
    }
    finish(socket, { socket })
  })
  server.on('tlsClientError', (error: Error & { code?: string }, socket) => {
    // Declared as an Error, but the runtime stores the code of the failed verification.
    const code = socket.authorizationError as unknown as string | null
    if (code !== null) return finish(socket, { reason: `client certificate: ${code}`, isClientCertificate: true })
    finish(socket, { reason: reasonOf(error), isClientCertificate: error.code === NO_CERTIFICATE })
  })
  return (socket, done) => {
    pending.set(socket, done)
    server.emit('connection', socket)
  }
}

const NO_CERTIFICATE = 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE'

/** Errors of OpenSSL carry their plain text apart; the message has addresses and source lines in it. */
function reasonOf(error: Error & { reason?: string }): string {
  return error.reason ?? error.message
}

/** The runtime has no public way from a TLS socket to the socket beneath it; without it, nothing is let in. */
function rawSocketOf(tlsSocket: TLSSocket): Socket {
  return (tlsSocket as TLSSocket & { _parent: Socket })._parent
}
