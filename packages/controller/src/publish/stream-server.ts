import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer, type IncomingHttpHeaders } from 'node:http2'
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { STREAM_PATH } from '@portico/gateway/stream'
import { PEERS_PATH } from '../peers/peer-messages.ts'
import type { Identity } from './certificate.ts'
import type { Refusal } from './counts.ts'
import { type StreamAcceptor } from './stream-acceptor.ts'
import { addressOf, refuseStream } from './refuse-stream.ts'

interface StreamServerOptions {
  /** Accepts the streams of data planes. */
  acceptor: StreamAcceptor
  /** Called with the stream of another controller. */
  takePeer: (stream: ServerHttp2Stream) => void
  refused: (reason: Refusal, fields: Readonly<Record<string, unknown>>) => void
  /** How long a connection may stay without an accepted stream. */
  idleMs: number
  mostStreams: number
}

/** The HTTP/2 server over TLS for data planes and other controllers. */
export class StreamServer {
  readonly #options: StreamServerOptions
  readonly #sessions = new Set<ServerHttp2Session>()
  #server: Http2SecureServer | undefined
  #isClosing = false

  constructor(options: StreamServerOptions) {
    this.#options = options
  }

  /** Listens, and returns the port. */
  async listen(identity: Identity, { port, host }: { port: number; host?: string }): Promise<number> {
    const settings = { maxConcurrentStreams: this.#options.mostStreams, enableConnectProtocol: false }
    const server = createSecureServer({
      ...secure(identity),
      // Controllers authenticate by certificate, data planes by token; the path decides which one is checked.
      requestCert: true,
      rejectUnauthorized: false,
      allowHTTP1: false,
      handshakeTimeout: 10_000,
      settings,
    })
    this.#server = server
    server.on('session', (session) => this.#watch(session))
    server.on('stream', (stream, headers) => this.#meet(stream as ServerHttp2Stream, headers))
    server.on('tlsClientError', () => this.#options.refused('handshake', {}))
    server.on('unknownProtocol', (socket) => {
      this.#options.refused('handshake', {})
      socket.destroy()
    })
    server.listen(port, host)
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  /** Uses another certificate for new connections. */
  renew(identity: Identity): void {
    this.#server?.setSecureContext(secure(identity))
  }

  /** Accepts no more connections; after the grace period the remaining ones are closed. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    const server = this.#server
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    for (const session of this.#sessions) session.close()
    const cut = setTimeout(() => this.#sessions.forEach((session) => session.destroy()), graceMs)
    await closed
    clearTimeout(cut)
  }

  /** Closes connections without an accepted stream. */
  #watch(session: ServerHttp2Session): void {
    this.#sessions.add(session)
    session.on('error', () => {})
    const idle = setTimeout(() => session.destroy(), this.#options.idleMs).unref()
    session.once(TAKEN, () => clearTimeout(idle))
    session.on('close', () => {
      clearTimeout(idle)
      this.#sessions.delete(session)
    })
  }

  #meet(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on('error', () => {})
    const { ':method': method, ':path': path } = headers
    if (this.#isClosing) return this.#refuse(stream, 'closing')
    const taken = (): boolean | undefined => stream.session?.emit(TAKEN)
    if (method === 'POST' && path === STREAM_PATH) return this.#options.acceptor.meet(stream, headers, taken)
    if (method !== 'GET' || path !== PEERS_PATH) return this.#refuse(stream, 'unknown_path')
    if (!isController(stream)) return this.#refuse(stream, 'no_controller')
    taken()
    this.#options.takePeer(stream)
    stream.on('close', () => stream.session?.close())
  }

  #refuse(stream: ServerHttp2Stream, reason: Refusal): void {
    this.#options.refused(reason, { address: addressOf(stream) })
    refuseStream(stream, reason)
  }
}

/** The event that is emitted on a session when one of its streams is accepted. */
const TAKEN = Symbol('taken')

/** Only controllers have certificates of the authorities, because only they have the keys of the authorities. */
function isController({ session }: ServerHttp2Stream): boolean {
  return session !== undefined && !session.destroyed && (session.socket as TLSSocket).authorized
}

function secure({ cert, key, ca }: Identity): Identity & { minVersion: 'TLSv1.3' } {
  return { cert, key, ca, minVersion: 'TLSv1.3' }
}
