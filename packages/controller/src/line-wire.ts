import { constants, type ServerHttp2Stream } from 'node:http2'

/**
 * Writes lines in pieces, each after the previous one was flushed, so that a slow reader does not cause copies; each
 * flushed piece is a sign of life.
 */
export class LineWire {
  readonly #stream: ServerHttp2Stream
  readonly #moved: (isAll: boolean) => void
  #lines: Buffer[] = []
  #offset = 0
  #isEnding = false

  /** `moved` is called when a piece was flushed, with true when all were. */
  constructor(stream: ServerHttp2Stream, moved: (isAll: boolean) => void) {
    this.#stream = stream
    this.#moved = moved
  }

  /** Whether bytes are still unsent. */
  get isBusy(): boolean {
    return this.#lines.length > 0
  }

  send(line: Buffer): void {
    if (this.#isEnding || this.#stream.destroyed || this.#stream.writableEnded) return
    this.#lines.push(line)
    if (this.#lines.length === 1) this.#write()
  }

  /** Ends the stream after all lines were flushed. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    if (!this.isBusy) this.#finish()
  }

  /** Destroys the stream and its connection, for a peer that reads nothing. */
  cut(): void {
    this.#isEnding = true
    this.#stream.session?.destroy()
  }

  #finish(): void {
    // Pending input of the peer is dropped.
    this.#stream.end(() => this.#stream.close(constants.NGHTTP2_NO_ERROR))
  }

  #write(): void {
    const [line] = this.#lines
    if (line === undefined) return
    const piece = line.subarray(this.#offset, this.#offset + PIECE_BYTES)
    this.#stream.write(piece, (error) => this.#left(piece.length, error))
  }

  #left(bytes: number, error: Error | null | undefined): void {
    if (error || this.#stream.destroyed) {
      this.#lines = []
      return
    }
    this.#offset += bytes
    if (this.#offset >= (this.#lines[0]?.length ?? 0)) {
      this.#lines.shift()
      this.#offset = 0
    }
    const isPart = this.#offset > 0
    if (this.isBusy) this.#write()
    else if (this.#isEnding) this.#finish()
    if (isPart || !this.isBusy) this.#moved(!isPart)
  }
}

const PIECE_BYTES = 256 * 1024
