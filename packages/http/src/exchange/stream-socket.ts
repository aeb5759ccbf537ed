import { Duplex } from 'node:stream'
import type { Sink, Source } from '../body/body.ts'
import type { RawStream } from './exchange.ts'

/** The two directions of one HTTP/2 stream that carries a tunnel. */
interface TunnelEnds {
  /** Bytes from the peer. */
  readonly input: Source
  /** Bytes to the peer. */
  readonly output: Sink
  /** Ends both directions at once, unless both have already ended. */
  reset(cause: Error): void
  /** Whether the connection that carries the stream takes no more streams. */
  isLeaving?(): boolean
}

/** A tunnel inside an HTTP/2 stream as a socket, so that `splice` can join it with any other connection. */
export class StreamSocket extends Duplex implements RawStream {
  bytesRead = 0
  bytesWritten = 0
  readonly #ends: TunnelEnds
  /** Whether the reader can take more data. */
  #hasRoom = true
  /** Write callback of the chunk that waits for the peer's flow control window. */
  #whenWritten: (() => void) | null = null

  constructor(ends: TunnelEnds) {
    super({ allowHalfOpen: true })
    this.#ends = ends
    // `splice` handles errors; an error before that must not end the worker.
    this.on('error', ignore)
    ends.output.source = {
      length: -1,
      pipe: ignore,
      resume: () => this.#written(),
      cancel: (cause) => void this.destroy(cause),
    }
    ends.input.pipe({
      source: null,
      write: (chunk) => {
        this.bytesRead += chunk.length
        if (!this.destroyed) this.#hasRoom = this.push(chunk)
      },
      flush: () => this.#hasRoom || this.destroyed,
      end: () => {
        if (!this.destroyed) this.push(null)
      },
      abort: (cause) => void this.destroy(cause),
    })
  }

  get isLeaving(): boolean {
    return this.#ends.isLeaving?.() === true
  }

  override _read(): void {
    if (this.#hasRoom) return
    this.#hasRoom = true
    this.#ends.input.resume()
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const { output } = this.#ends
    this.bytesWritten += chunk.length
    output.write(chunk)
    if (output.flush()) done()
    else this.#whenWritten = done
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    const { output } = this.#ends
    for (const { chunk } of chunks) {
      this.bytesWritten += chunk.length
      output.write(chunk)
    }
    if (output.flush()) done()
    else this.#whenWritten = done
  }

  #written(): void {
    const done = this.#whenWritten
    this.#whenWritten = null
    done?.()
  }

  override _final(done: () => void): void {
    this.#ends.output.end(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#ends.reset(error ?? CLOSED)
    done(error)
  }

  resetAndDestroy(): void {
    this.destroy()
  }

  /** Like `net.Socket.destroySoon`: destroys after the written data has been sent. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }
}

function ignore(): void {}

const CLOSED = new Error('tunnel closed')
