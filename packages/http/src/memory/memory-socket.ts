import { Duplex } from 'node:stream'
import type { RawStream } from '../exchange/exchange.ts'

/**
 * Makes two sockets in memory that are connected to each other. They deliver bytes in order, never synchronously. With
 * `alpn`, the first one looks like a TLS connection whose handshake chose this protocol; the bytes are not encrypted.
 */
export function memorySockets(alpn: 'h2' | 'http/1.1' | null = null): readonly [MemorySocket, MemorySocket] {
  const pair = [new MemorySocket(), new MemorySocket()] as const
  if (alpn !== null) Object.assign(pair[0], { encrypted: true, alpnProtocol: alpn })
  pair[0].connect(pair[1])
  pair[1].connect(pair[0])
  return pair
}

/** One end of a connection in memory. It closes, half-closes and resets as a TCP socket does. */
export class MemorySocket extends Duplex implements RawStream {
  bytesRead = 0
  bytesWritten = 0
  #peer: MemorySocket | null = null
  #isReset = false
  #hasPeerLeft = false
  /** The callback of the peer's last write, which waits until this side reads. */
  #whenRead: (() => void) | null = null

  constructor() {
    super({ allowHalfOpen: true, decodeStrings: false })
  }

  connect(peer: MemorySocket): void {
    this.#peer = peer
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    this.bytesWritten += bytes.length
    if (this.#hasPeerLeft || this.#peer === null) return done(broken('EPIPE'))
    process.nextTick(deliver, this.#peer, bytes, done)
  }

  override _writev(
    chunks: { chunk: Buffer | string; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    const pieces = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    )
    this._write(Buffer.concat(pieces), 'latin1', done)
  }

  override _read(): void {
    const done = this.#whenRead
    this.#whenRead = null
    done?.()
  }

  /** Receives bytes of the peer; `done` is called when there is room for more. */
  receive(bytes: Buffer, done: () => void): void {
    if (this.destroyed || this.readableEnded) return done()
    this.bytesRead += bytes.length
    if (this.push(bytes)) done()
    else this.#whenRead = done
  }

  /** The peer sends nothing more. */
  receiveEnd(): void {
    if (!this.destroyed) this.push(null)
  }

  /** The peer is closed: it neither sends nor receives. */
  peerLeft(isReset: boolean): void {
    this.#hasPeerLeft = true
    if (this.destroyed) return
    if (isReset) this.destroy(broken('ECONNRESET'))
    else this.push(null)
  }

  override _final(done: () => void): void {
    if (this.#peer !== null) process.nextTick(deliverEnd, this.#peer)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.#peer !== null) process.nextTick(leave, this.#peer, this.#isReset)
    this.#peer = null
    this.#whenRead?.()
    this.#whenRead = null
    done(error)
  }

  resetAndDestroy(): void {
    this.#isReset = true
    this.destroy()
  }

  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }
}

function deliver(socket: MemorySocket, bytes: Buffer, done: () => void): void {
  socket.receive(bytes, done)
}

function deliverEnd(socket: MemorySocket): void {
  socket.receiveEnd()
}

function leave(socket: MemorySocket, isReset: boolean): void {
  socket.peerLeft(isReset)
}

function broken(code: 'EPIPE' | 'ECONNRESET'): Error {
  return Object.assign(new Error(code === 'EPIPE' ? 'write EPIPE' : 'read ECONNRESET'), { code })
}
