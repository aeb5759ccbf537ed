import { constants, createHash, hkdfSync, X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { createServer, type Server, type TLSSocket, type TlsOptions } from 'node:tls'
import type { ClientCertificates, ListenerTls } from './listener-tls.ts'
import { findAuthorityProblem, opensslReason } from '../../tls/pem.ts'
import { sendCertificateAlerts } from './tls-alert.ts'
import {
  cipherByName,
  groupByName,
  versionByName,
  type CipherSuiteName,
  type KeyExchangeGroupName,
  type TlsVersionName,
} from '../../tls/tls-names.ts'

/** The fields of the frontend `tls` policy that affect a handshake; absent fields take the defaults. */
export interface ServerTlsPolicy {
  alpnProtocols?: readonly string[] | null
  minProtocolVersion?: TlsVersionName | null
  maxProtocolVersion?: TlsVersionName | null
  cipherSuites?: readonly CipherSuiteName[] | null
  keyExchangeGroups?: readonly KeyExchangeGroupName[] | null
  clientCertificates?: ClientCertificates | null
}

export interface ServerTls {
  /** Hash of certificates, key and policy: instances with equal keys behave alike. */
  key: string
  /** Accepts a connection whose first bytes are unread; `done` is called at most once. */
  handshake: (socket: Socket, done: (result: HandshakeResult) => void) => void
}

/** Why TLS cannot be set up; `cert` covers the private key too. */
export interface TlsProblem {
  of: 'policy' | 'cert' | 'root'
  message: string
}

export type HandshakeResult = { socket: TLSSocket } | { reason: string; cause: HandshakeFailure }

/** Why a handshake failed, for programs; the reason in words depends on the TLS library. */
export type HandshakeFailure =
  | 'unknown_name' // No listener has the server name.
  | 'not_tls' // The client does not speak TLS.
  | 'timeout'
  | 'client_alert' // The client rejected the server, most often its certificate.
  | 'client_certificate' // The client sent no certificate although one is required, or one that was rejected.
  | 'no_agreement' // Client and server have no version, cipher, group or signature in common.
  | 'other'

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
    // HTTP/2 forbids renegotiation, which also lets a client waste our CPU.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // The caller sets the deadline, because it also covers the wait for the ClientHello.
    handshakeTimeout: longestTimeout,
    // A session of one listener must not be valid on another listener that requires a client certificate.
    sessionIdContext: session.key.slice(0, 32),
  }
  if (session.ticketSecret) {
    options.ticketKeys = Buffer.from(hkdfSync('sha256', session.ticketSecret, '', `tickets ${session.key}`, 48))
  }
  if (listener.root === null) return options
  const rejectUnauthorized = listener.clientsMayLack !== true && !mayLackCertificate(listener, policy)
  return { ...options, ca: listener.root, requestCert: true, rejectUnauthorized }
}

/** Returns whether clients may connect without a certificate; a presented certificate is verified. */
function mayLackCertificate(listener: ListenerTls, policy: ServerTlsPolicy | null): boolean {
  if (listener.root === null || listener.clientsMayLack === true) return false
  return (listener.clientCertificates ?? policy?.clientCertificates) === 'Request'
}

/** Each certificate is presented to clients that ask for one of its names; for a shared name, the first certificate. */
function addCertificates(server: Server, options: TlsOptions, { cert, key, others = [] }: ListenerTls): void {
  // The server checks the most recently added contexts first.
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

/** OpenSSL would accept these settings and then reject every client. */
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

/** Groups joined by ':' are equal, and the client's key share decides; '/' makes a strict order. */
function groupList(groups: readonly KeyExchangeGroupName[] | null | undefined): string {
  return groups ? groups.map((name) => groupByName[name]).join('/') : Object.values(groupByName).join(':')
}

/**
 * The server never listens: connections are injected, as its documented 'connection' event allows. This way the runtime
 * itself verifies client certificates (a bare server-side TLSSocket accepts any certificate). `refuseOptional` tells a
 * client why its optional certificate was rejected; null when a certificate is required.
 */
function createHandshake(server: Server, refuseOptional: ((socket: TLSSocket) => void) | null): ServerTls['handshake'] {
  const pending = new WeakMap<Socket, (result: HandshakeResult) => void>()
  function finish(tlsSocket: TLSSocket, result: HandshakeResult): void {
    const raw = rawSocketOf(tlsSocket)
    const done = pending.get(raw)
    pending.delete(raw)
    if (done) done(result)
    // Closing within the handshake's own callback crashes the process.
    else setImmediate(() => tlsSocket.destroy())
  }
  server.on('secureConnection', (socket) => {
    // When certificates are optional, the runtime admits clients even with a certificate that no CA vouches for.
    if (refuseOptional !== null && !socket.authorized && socket.getPeerX509Certificate() !== undefined) {
      refuseOptional(socket)
      const reason = `client certificate: ${String(socket.authorizationError)}`
      // Closing within the handshake's own callback crashes the process.
      setImmediate(() => {
        finish(socket, { reason, cause: 'client_certificate' })
        socket.destroy()
      })
      return
    }
    finish(socket, { socket })
  })
  server.on('tlsClientError', (error: Error & { code?: string }, socket) => {
    // Declared as an Error, but the runtime stores the code of the failed verification.
    const code = socket.authorizationError as unknown as string | null
    if (code !== null) return finish(socket, { reason: `client certificate: ${code}`, cause: 'client_certificate' })
    finish(socket, { reason: reasonOf(error), cause: causeOf(error.code ?? '') })
  })
  return (socket, done) => {
    pending.set(socket, done)
    server.emit('connection', socket)
  }
}

/** Maps the code of an OpenSSL error. */
function causeOf(code: string): HandshakeFailure {
  if (code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') return 'client_certificate'
  if (/^ERR_SSL_.*_ALERT_/.test(code)) return 'client_alert'
  return /^ERR_SSL_.*(VERSION|PROTOCOL|CIPHER|SIGNATURE|SIGALG|GROUP)/.test(code) ? 'no_agreement' : 'other'
}

/** OpenSSL errors have their plain text in `reason`; the message contains addresses and source lines. */
function reasonOf(error: Error & { reason?: string }): string {
  return error.reason ?? error.message
}

/** The runtime has no public way from a TLS socket to its underlying socket; without it, no connection is admitted. */
function rawSocketOf(tlsSocket: TLSSocket): Socket {
  return (tlsSocket as TLSSocket & { _parent: Socket })._parent
}
