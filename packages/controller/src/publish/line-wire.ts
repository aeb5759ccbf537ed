import { constants, type ServerHttp2Stream } from 'node:http2'

/**
 * Writes lines piece by piece, each when the one before has left, so that whoever reads slowly makes nobody keep copies; and
 * each piece that leaves says that the other end is alive.
 */
export class LineWire {
  readonly #stream: ServerHttp2Stream
  readonly #moved: (isAll: boolean) => void
  #lines: Buffer[] = []
  #offset = 0
  #isEnding = false

  /** Told when all has left, or a part: a long line leaves only as fast as it is read. */
  constructor(stream: ServerHttp2Stream, moved: (isAll: boolean) => void) {
    this.#stream = stream
    this.#moved = moved
  }

  /** Whether something is still on its way. */
  get isBusy(): boolean {
    return this.#lines.length > 0
  }

  send(line: Buffer): void {
    if (this.#isEnding || this.#stream.destroyed || this.#stream.writableEnded) return
    this.#lines.push(line)
    if (this.#lines.length === 1) this.#write()
  }

  /** Ends when all that was sent before is on its way. */
  end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    if (!this.isBusy) this.#finish()
  }

  /** Ends now, with the connection: one that takes nothing would not take the news of it either. */
  cut(): void {
    this.#isEnding = true
    this.#stream.session?.destroy()
  }

  #finish(): void {
    // What the other end still has to say is not waited for.
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
