import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { SocketReader } from '../../socket/socket-reader.ts'

/** A connection whose peer is the caller: enough of a socket for our engine and for `node:http`. */
export class MemorySocket extends Duplex {
  readonly remoteAddress = '127.0.0.1'
  readonly remotePort = 1
  /** The bytes written to the socket, as latin1. */
  written = ''

  constructor() {
    super({ allowHalfOpen: true, decodeStrings: true })
  }

  get asSocket(): Socket {
    return this as unknown as Socket
  }

  /** Sends bytes from the peer; each piece arrives as a separate read. */
  feed(pieces: readonly Buffer[]): void {
    for (const piece of pieces) this.push(piece)
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written += chunk.toString('latin1')
    done()
  }

  override _final(done: () => void): void {
    done()
  }

  destroySoon(): void {
    this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}

/** Offers each piece in place first, as the reader of a real socket does. */
export class GlancingReader implements SocketReader {
  readonly #socket: MemorySocket
  #onData: ((chunk: Buffer) => void) | null = null

  constructor(socket: MemorySocket) {
    this.#socket = socket
  }

  start(...[receive, glance]: Parameters<SocketReader['start']>): void {
    this.#onData = (chunk) => {
      if (glance?.(chunk, chunk.length) !== true) receive(chunk)
    }
    this.#socket.on('data', this.#onData)
  }

  release(): void {
    if (this.#onData !== null) this.#socket.off('data', this.#onData)
  }
}
