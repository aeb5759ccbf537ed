import { once } from 'node:events'
import { createSecureServer, type Http2SecureServer, type IncomingHttpHeaders } from 'node:http2'
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { STREAM_PATH } from '@portico/gateway/stream'
import { PEERS_PATH } from '../peers/peer-messages.ts'
import type { Identity } from './certificate.ts'
import type { Refusal } from './counts.ts'
import { type Reception } from './reception.ts'
import { addressOf, refuseStream } from './refuse-stream.ts'

export interface StreamServerOptions {
  /** Of data planes. */
  reception: Reception
  /** The stream of another controller. */
  takePeer: (stream: ServerHttp2Stream) => void
  refused: (reason: Refusal, fields: Readonly<Record<string, unknown>>) => void
  /** How long a connection may have no stream that was taken. */
  idleMs: number
  mostStreams: number
}

/** HTTP/2 over TLS, for data planes and other controllers. */
export class StreamServer {
  readonly #options: StreamServerOptions
  readonly #sessions = new Set<ServerHttp2Session>()
  #server: Http2SecureServer | undefined
  #isClosing = false

  constructor(options: StreamServerOptions) {
    this.#options = options
  }

  /** The port it listens at. */
  async listen(identity: Identity, { port, host }: { port: number; host?: string }): Promise<number> {
    const settings = { maxConcurrentStreams: this.#options.mostStreams, enableConnectProtocol: false }
    const server = createSecureServer({
      ...secure(identity),
      // Controllers have certificates, data planes have tokens: what was shown is looked at with the path.
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

  /** For connections from now on. */
  renew(identity: Identity): void {
    this.#server?.setSecureContext(secure(identity))
  }

  /** Takes nobody in any more; who is still there after a while is cut off. */
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

  /** One on which no stream is taken has nothing to do here. */
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
    if (method === 'POST' && path === STREAM_PATH) return this.#options.reception.meet(stream, headers, taken)
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

/** Told to a session that has a stream with somebody at its other end. */
const TAKEN = Symbol('taken')

/** Only controllers have the keys of the authorities, so only they have certificates of them. */
function isController({ session }: ServerHttp2Stream): boolean {
  return session !== undefined && !session.destroyed && (session.socket as TLSSocket).authorized
}

function secure({ cert, key, ca }: Identity): Identity & { minVersion: 'TLSv1.3' } {
  return { cert, key, ca, minVersion: 'TLSv1.3' }
}
