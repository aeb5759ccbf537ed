import { contained } from '@portico/http/faults'
import type { Sink, Source } from '@portico/http'

/** The room for answers that are arriving. */
export interface Room {
  /** The most bytes of one answer. */
  readonly maxAnswerBytes: number
  reserve(bytes: number): boolean
  release(bytes: number): void
}

interface BodyEvents {
  /** The body has ended, or is too large to be kept: no reader can be added anymore. Called once. */
  closed(): void
  left(reader: BodyReader, cause: Error): void
}

/**
 * A body that several readers read, each at its own pace. Its bytes are kept until it is stored or released. A body that
 * is too large to be kept goes on at the pace of its slowest reader.
 */
export class SharedBody implements Sink {
  source: Source | null = null
  readonly #body: Source
  readonly #room: Room
  readonly #events: BodyEvents
  readonly #readers = new Set<BodyReader>()
  #end: 'open' | 'whole' | Error = 'open'
  #isStarted = false
  #isClosed = false
  /** False when the body is too large, has broken off, or was stored: chunks are then kept only for readers. */
  #isKept = true
  #hasRoom = true
  #chunks: Buffer[] = []
  /** The position of the first of `#chunks`. */
  #first = 0
  #bytes = 0

  constructor(body: Source, room: Room, events: BodyEvents) {
    this.#body = body
    this.#room = room
    this.#events = events
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  get hasReaders(): boolean {
    return this.#readers.size > 0
  }

  addReader(): BodyReader {
    const reader = new BodyReader(this)
    this.#readers.add(reader)
    return reader
  }

  /** Returns all bytes of a body that has ended well and was kept; otherwise null. */
  get whole(): Buffer | null {
    if (this.#end !== 'whole' || !this.#isKept) return null
    // A part of a pool would keep the whole pool in memory for as long as the answer is stored.
    const whole = Buffer.allocUnsafeSlow(this.#bytes)
    let at = 0
    for (const chunk of this.#chunks) at += chunk.copy(whole, at)
    return whole
  }

  /** The number of bytes, or -1 when unknown. */
  get length(): number {
    return this.#body.length
  }

  /** Drops the chunks that all readers have, now and later. */
  release(): void {
    this.#isKept = false
    this.#releaseRoom()
    this.#trim()
  }

  #releaseRoom(): void {
    if (!this.#hasRoom) return
    this.#hasRoom = false
    this.#room.release(this.#bytes)
  }

  /** Stops reading the body. */
  cancel(cause: Error): void {
    if (this.#end !== 'open') return
    this.#end = cause
    this.#close()
    this.release()
    this.#body.cancel(cause)
  }

  // Called by readers.

  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#body.pipe(this)
  }

  chunkAt(position: number): Buffer | undefined {
    return this.#chunks[position - this.#first]
  }

  /** Null after a whole body; undefined while the body has not ended. */
  get ending(): Error | null | undefined {
    return this.#end === 'open' ? undefined : this.#end === 'whole' ? null : this.#end
  }

  resumeIfWanted(): void {
    this.#trim()
    if (this.#end === 'open' && this.#isStarted && this.#isWanted) this.#body.resume()
  }

  remove(reader: BodyReader, cause: Error): void {
    if (!this.#readers.delete(reader)) return
    // Guards may still look at the answer before it is stored; the request that waits for them holds it anyway.
    if (this.#end !== 'open' && !this.hasReaders) this.#releaseRoom()
    this.#trim()
    this.#events.left(reader, cause)
  }

  // Data of the provider.

  write(chunk: Buffer): void {
    if (this.#end !== 'open') return
    // The chunk may be a view of a buffer that the next read overwrites.
    this.#chunks.push(Buffer.from(chunk))
    if (!this.#isKept) return
    const fits = this.#bytes + chunk.length <= this.#room.maxAnswerBytes && this.#room.reserve(chunk.length)
    if (fits) this.#bytes += chunk.length
    else {
      this.#close()
      this.release()
    }
  }

  flush(): boolean {
    this.#deliver()
    return this.#end === 'open' && this.#isWanted
  }

  end(): void {
    if (this.#end === 'open') this.#finish('whole')
  }

  abort(cause: Error): void {
    if (this.#end === 'open') this.#finish(cause)
  }

  #finish(end: 'whole' | Error): void {
    this.#end = end
    this.#close()
    if (end !== 'whole') this.release()
    this.#deliver()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#events.closed()
  }

  #deliver(): void {
    for (const reader of [...this.#readers]) contained('request', () => reader.advance())
    this.#trim()
  }

  /** The fastest reader sets the pace of a body that is kept, the slowest that of any other. */
  get #isWanted(): boolean {
    const readers = [...this.#readers]
    return this.#isKept ? readers.some((reader) => reader.isReady) : readers.every((reader) => reader.isReady)
  }

  /** Drops the chunks that all readers have, unless the body is kept. */
  #trim(): void {
    if (this.#isKept) return
    const read = Math.min(this.#first + this.#chunks.length, ...[...this.#readers].map(({ position }) => position))
    this.#chunks.splice(0, read - this.#first)
    this.#first = read
  }
}

/** One reader of a shared body. */
export class BodyReader implements Source {
  readonly #body: SharedBody
  /** The number of chunks that were read. */
  position = 0
  #sink: Sink | null = null
  #isBlocked = false
  #isAdvancing = false

  constructor(body: SharedBody) {
    this.#body = body
  }

  get length(): number {
    return this.#body.length
  }

  /** Whether the reader takes more at once. */
  get isReady(): boolean {
    return this.#sink !== null && !this.#isBlocked
  }

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    this.#body.start()
    this.advance()
    this.#body.resumeIfWanted()
  }

  resume(): void {
    if (!this.#isBlocked) return
    this.#isBlocked = false
    this.advance()
    this.#body.resumeIfWanted()
  }

  cancel(cause: Error): void {
    this.#sink = null
    this.#body.remove(this, cause)
  }

  /** Passes on the chunks that are there, in batches, and the end after the last one. */
  advance(): void {
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    try {
      while (this.isReady && this.#passBatch());
    } finally {
      this.#isAdvancing = false
    }
  }

  /** Returns whether there may be more to pass on. */
  #passBatch(): boolean {
    let count = 0
    for (; count < BATCH; count += 1) {
      const chunk = this.#body.chunkAt(this.position)
      if (chunk === undefined || this.#sink === null) break
      this.position += 1
      this.#sink.write(chunk)
    }
    if (count > 0) {
      if (this.#sink !== null && !this.#sink.flush()) this.#isBlocked = true
      return true
    }
    const { ending } = this.#body
    const sink = this.#sink
    if (ending === undefined || sink === null) return false
    this.#sink = null
    if (ending === null) sink.end(null)
    else sink.abort(ending)
    this.#body.remove(this, ending ?? READ)
    return false
  }
}

const BATCH = 16
const READ = new Error('the body was read')
