import { verifiedCertificate } from '../../exchange/client-certificate.ts'
import type { Handshake } from '../../exchange/connection-info.ts'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { readClientHello, type ClientHello } from './client-hello.ts'
import { reportFault } from '../../runtime/faults.ts'
import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'
import { lingeringClose } from '../../socket/lingering-close.ts'
import type { HandshakeFailure, ServerTls } from './tls.ts'

export interface TlsChoice<T> {
  /** Null forwards the encrypted bytes unchanged. */
  tls: ServerTls | null
  listener: T
}

export interface AcceptTlsOptions<T> {
  deadlines: Deadlines
  /** Milliseconds for the ClientHello and the handshake together. */
  timeout: number
  /**
   * Whether a connection with an unknown server name is closed without an alert, as if the server behind it were gone.
   */
  isSilent?: boolean
  /** Returns null to refuse the connection, because no listener serves this name. */
  choose: (hello: ClientHello) => TlsChoice<T> | null
  onSecure: (socket: TLSSocket, listener: T, hello: ClientHello, handshake: Handshake) => void
  /** The ClientHello is still unread on the socket; the callee takes over error handling. */
  onPassthrough: (socket: Socket, listener: T, hello: ClientHello) => void
  /**
   * The socket is already being closed. `hello` is null when no ClientHello was read, `listener` is null when no
   * listener has the name.
   */
  onRefused: (reason: string, came: RefusedHandshake<T>) => void
}

interface RefusedHandshake<T> {
  hello: ClientHello | null
  listener: T | null
  hasSpoken: boolean
  cause: HandshakeFailure
}

/**
 * Chooses the listener by the ClientHello, then starts TLS with that listener's options: an SNI callback would be too
 * late for protocol versions and client certificates. Exactly one of the three callbacks is called, once.
 */
export function acceptTls<T>(socket: Socket, options: AcceptTlsOptions<T>): void {
  new TlsAcceptance(socket, options).start()
}

class TlsAcceptance<T> {
  readonly #socket: Socket
  readonly #options: AcceptTlsOptions<T>
  readonly #deadline = new Deadline(() => this.#contained(() => this.#refuse('the TLS handshake timed out', 'timeout')))
  #received: Buffer = Buffer.alloc(0)
  #isSettled = false
  #hello: ClientHello | null = null
  #listener: T | null = null

  constructor(socket: Socket, options: AcceptTlsOptions<T>) {
    this.#socket = socket
    this.#options = options
  }

  start(): void {
    this.#options.deadlines.set(this.#deadline, this.#options.timeout)
    this.#socket.on('readable', this.#onReadable)
    this.#socket.on('end', this.#onEnd)
    this.#socket.on('error', this.#onError)
    this.#socket.on('close', this.#onClose)
  }

  readonly #onReadable = (): void => this.#contained(() => this.#read())

  #read(): void {
    const socket = this.#socket
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    }
    const result = readClientHello(this.#received)
    if (result.kind === 'more') return
    if (result.kind === 'hello') return this.#choose(result)
    this.#refuse(
      result.reason,
      result.isTls ? 'other' : 'not_tls',
      startsLikeHttp(this.#received) ? PLAIN_HTTP_ANSWER : undefined,
    )
  }

  readonly #onEnd = (): void => this.#contained(() => this.#refuse('closed before the TLS handshake'))

  readonly #onError = (error: Error): void => this.#contained(() => this.#refuse(error.message))

  readonly #onClose = (): void => {
    // The TLS socket closes right after this socket, and may report a better reason.
    setImmediate(() => this.#contained(() => this.#refuse('closed during the TLS handshake')))
  }

  #choose(hello: ClientHello): void {
    const socket = this.#socket
    this.#hello = hello
    const choice = this.#options.choose(hello)
    this.#listener = choice === null ? null : choice.listener
    if (choice === null) {
      const lastWords = this.#options.isSilent === true ? undefined : ALERT_UNKNOWN_NAME
      return this.#refuse(`no listener for ${hello.sni ?? 'a client that names no server'}`, 'unknown_name', lastWords)
    }
    this.#stopReading()
    socket.unshift(this.#received)
    if (choice.tls === null) {
      this.#settle()
      return this.#options.onPassthrough(socket, choice.listener, hello)
    }
    choice.tls.handshake(socket, (outcome) =>
      this.#contained(() => {
        if ('reason' in outcome) return this.#refuse(outcome.reason, outcome.cause)
        // The deadline may have passed between the last bytes and this call.
        if (!this.#settle()) return void setImmediate(() => outcome.socket.destroy())
        const certificate = verifiedCertificate(outcome.socket)
        this.#options.onSecure(outcome.socket, choice.listener, hello, { certificate })
      }),
    )
  }

  /** An exception in a callback ends only this connection. */
  #contained(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#settle()
      this.#socket.on('error', ignore)
      // Closing within the handshake's own callback crashes the process.
      setImmediate(() => this.#socket.destroy())
      reportFault(error, 'connection')
    }
  }

  #refuse(reason: string, cause: HandshakeFailure = 'other', lastWords?: Buffer): void {
    if (!this.#settle()) return
    const socket = this.#socket
    socket.on('error', ignore)
    if (lastWords !== undefined && socket.writable) {
      socket.write(lastWords)
      lingeringClose(socket, this.#options.deadlines)
    } else socket.destroy()
    this.#options.onRefused(reason, {
      hello: this.#hello,
      listener: this.#listener,
      hasSpoken: this.#received.length > 0,
      cause,
    })
  }

  #settle(): boolean {
    if (this.#isSettled) return false
    this.#isSettled = true
    this.#options.deadlines.clear(this.#deadline)
    this.#stopReading()
    this.#socket.off('close', this.#onClose)
    return true
  }

  #stopReading(): void {
    this.#socket.off('readable', this.#onReadable)
    this.#socket.off('end', this.#onEnd)
    this.#socket.off('error', this.#onError)
  }
}

/** TLS record: type alert, TLS 1.2, two bytes: fatal, unrecognized_name. */
const ALERT_UNKNOWN_NAME = Buffer.from([0x15, 3, 3, 0, 2, 2, 112])

/** The request lines of all browsers and tools begin with a capital letter. */
function startsLikeHttp(bytes: Buffer): boolean {
  const first = bytes[0] ?? 0
  return first >= 65 && first <= 90
}

const PLAIN_HTTP_ANSWER = Buffer.from(
  'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 25\r\nconnection: close\r\n\r\nthis port speaks TLS only',
)

function ignore(): void {}
