import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { readClientHello, type ClientHello } from './client-hello.ts'
import type { ServerTls } from './tls.ts'

export interface TlsChoice<T> {
  /** Null passes the encrypted bytes on as they came. */
  tls: ServerTls | null
  listener: T
}

export interface AcceptTlsOptions<T> {
  /** Milliseconds for the hello and the handshake together. */
  timeout: number
  /** Null refuses the connection: no listener serves this name. */
  choose: (hello: ClientHello) => TlsChoice<T> | null
  onSecure: (socket: TLSSocket, listener: T, hello: ClientHello) => void
  /** The hello is still unread on the socket; error handling passes to the callee. */
  onPassthrough: (socket: Socket, listener: T, hello: ClientHello) => void
  /** The socket is already being closed. */
  onRefused: (reason: string) => void
}

/**
 * Chooses the listener by the ClientHello, then starts TLS with that listener's own options: an SNI callback would
 * come too late for its versions and client certificates. Exactly one of the three callbacks is called, once.
 */
export function acceptTls<T>(socket: Socket, options: AcceptTlsOptions<T>): void {
  let received: Buffer = Buffer.alloc(0)
  let isSettled = false
  const deadline = setTimeout(() => refuse('the TLS handshake timed out'), options.timeout)
  socket.on('readable', readHello)
  socket.on('end', onEnd)
  socket.on('error', onError)
  socket.on('close', onClose)

  function readHello(): void {
    for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    }
    const result = readClientHello(received)
    if (result.kind === 'more') return
    if (result.kind === 'refused') return refuse(result.reason, startsLikeHttp(received) ? plainHttpAnswer : undefined)
    const choice = options.choose(result)
    if (choice === null)
      return refuse(`no listener for ${result.sni ?? 'a client that names no server'}`, alertUnknownName)
    stopReading()
    socket.unshift(received)
    if (choice.tls === null) {
      settle()
      return options.onPassthrough(socket, choice.listener, result)
    }
    choice.tls.handshake(socket, (outcome) => {
      if ('reason' in outcome) return refuse(outcome.reason)
      // The deadline may have passed between the last bytes and this call.
      if (!settle()) return void outcome.socket.destroy()
      options.onSecure(outcome.socket, choice.listener, result)
    })
  }

  function refuse(reason: string, lastWords?: Buffer): void {
    if (!settle()) return
    socket.on('error', ignore)
    if (lastWords && socket.writable) endWith(lastWords)
    else socket.destroy()
    options.onRefused(reason)
  }

  /** What still arrives is dropped for a moment: a close while the client sends would take the words with it. */
  function endWith(lastWords: Buffer): void {
    const linger = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(linger))
    socket.end(lastWords)
    socket.resume()
  }

  function settle(): boolean {
    if (isSettled) return false
    isSettled = true
    clearTimeout(deadline)
    stopReading()
    socket.off('close', onClose)
    return true
  }

  function stopReading(): void {
    socket.off('readable', readHello)
    socket.off('end', onEnd)
    socket.off('error', onError)
  }

  function onEnd(): void {
    refuse('closed before the TLS handshake')
  }
  function onError(error: Error): void {
    refuse(error.message)
  }
  function onClose(): void {
    // The TLS socket closes right after this one, and may know a better reason.
    setImmediate(refuse, 'closed during the TLS handshake')
  }
}

/** Record type alert, TLS 1.2, two bytes: fatal, unrecognized_name. */
const alertUnknownName = Buffer.from([0x15, 3, 3, 0, 2, 2, 112])

/** A request line begins with a capital letter in all that browsers and tools send. */
function startsLikeHttp(bytes: Buffer): boolean {
  const first = bytes[0] ?? 0
  return first >= 65 && first <= 90
}

const plainHttpAnswer = Buffer.from(
  'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: 25\r\nconnection: close\r\n\r\nthis port speaks TLS only',
)
const LINGER_MS = 1_000

function ignore(): void {}
