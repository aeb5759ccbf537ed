import type { Transform } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import type { Sink, Source } from './body.ts'

/**
 * Returns the body without its content encodings, listed as in the header, outermost last; null when an encoding is
 * unknown.
 */
export function decodedBody(body: Source, encoding: string): Source | null {
  const names = encoding
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
  if (names.length > MOST_ENCODINGS) return null
  let decoded = body
  for (const name of names.toReversed()) {
    const create = decoders.get(name)
    if (create === undefined) return null
    decoded = new DecodedBody(decoded, create())
  }
  return decoded
}

/**
 * Forwards bytes as they are decompressed, and decompresses no more than the reader takes: a few bytes can expand to
 * gigabytes.
 */
class DecodedBody implements Source, Sink {
  source: Source | null = null
  readonly length = -1
  readonly #body: Source
  readonly #decoder: Transform
  #sink: Sink | null = null
  #isOver = false

  constructor(body: Source, decoder: Transform) {
    this.#body = body
    this.#decoder = decoder
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    this.#decoder
      .on('data', (chunk: Buffer) => {
        if (this.#isOver) return
        sink.write(chunk)
        if (!sink.flush()) this.#decoder.pause()
      })
      .on('end', () => this.#end(() => sink.end(null)))
      .on('error', (error) => this.#fail(error))
      .on('drain', () => this.#body.resume())
    this.#body.pipe(this)
  }

  resume(): void {
    this.#decoder.resume()
  }

  cancel(cause: Error): void {
    this.#end(() => this.#decoder.destroy())
    this.#body.cancel(cause)
  }

  // Calls from the encoded body.

  write(chunk: Buffer): void {
    if (!this.#isOver) this.#decoder.write(chunk)
  }

  flush(): boolean {
    return !this.#decoder.writableNeedDrain
  }

  end(): void {
    this.#decoder.end()
  }

  abort(cause: Error): void {
    this.#end(() => {
      this.#decoder.destroy()
      this.#sink?.abort(cause)
    })
  }

  #fail(error: Error): void {
    this.#end(() => {
      this.#body.cancel(error)
      this.#sink?.abort(new Error(`the body cannot be decoded: ${error.message}`))
    })
  }

  #end(last: () => void): void {
    if (this.#isOver) return
    this.#isOver = true
    last()
  }
}

// Each decoder flushes at once, because events of a stream must not wait for later data.
const decoders: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => createGunzip({ flush: constants.Z_SYNC_FLUSH })],
  ['x-gzip', () => createGunzip({ flush: constants.Z_SYNC_FLUSH })],
  ['deflate', () => createInflate({ flush: constants.Z_SYNC_FLUSH })],
  ['br', () => createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH })],
  ['zstd', () => createZstdDecompress({ flush: constants.ZSTD_e_flush })],
])
const MOST_ENCODINGS = 3
