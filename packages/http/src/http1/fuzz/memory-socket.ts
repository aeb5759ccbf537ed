import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

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
