import { write as fsWrite, writeSync } from 'node:fs'
import { lineDescriptor, type LineDescriptor } from './line-descriptor.ts'

interface LineBacklogOptions {
  /** Number of characters that make a batch; 64 Ki unless set. */
  batchLength?: number
  /** Number of waiting characters beyond which new lines are dropped and counted; 8 Mi unless set. */
  maxBacklog?: number
  /** Returns the line that reports dropped lines, with its line feed. */
  describeDropped?: (count: number) => string
}

interface LineWriterOptions extends LineBacklogOptions {
  fd?: number
  /** The longest time that a line waits for others; 20 ms unless set. */
  delayMs?: number
}

/** Batches lines to a file descriptor with one asynchronous write at a time; a slow or gone reader never blocks or throws. */
export class LineWriter {
  readonly #descriptor: LineDescriptor
  readonly #backlog: LineBacklog
  readonly #delayMs: number
  #timer: NodeJS.Timeout | null = null
  #retry: NodeJS.Timeout | null = null
  #batch: Buffer = EMPTY
  #batchNumber = 0
  #offset = 0
  /** The length of the asynchronous write in progress; 0 without one. */
  #outstanding = 0
  #isBroken = false
  #waiters: { batch: number; resolve: () => void }[] = []

  constructor(options: LineWriterOptions = {}) {
    this.#descriptor = lineDescriptor(options.fd ?? 1)
    this.#backlog = new LineBacklog(options)
    this.#delayMs = options.delayMs ?? 20
  }

  /** Writes whole lines, each ending with a line feed. A bound function, because callers pass it on without its object. */
  readonly write = (lines: string): void => {
    if (this.#isBroken) return
    if (this.#backlog.add(lines, this.#batch.length - this.#offset)) this.#start()
    else this.#timer ??= setTimeout(() => this.#onTimer(), this.#delayMs).unref()
  }

  /** Resolves when everything written before the call has left or was given up. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiters.push({ batch: this.#batchNumber + this.#backlog.batchCount, resolve })
      this.#retry?.ref()
      this.#start()
    })
  }

  /** Writes all lines before the process exits; blocks for a second at most. */
  flushSync(): void {
    if (this.#isBroken) return
    const deadline = Date.now() + SYNC_LIMIT_MS
    // The system completes the outstanding write, and callers of `flush` keep waiting for it.
    const isTakenOver = this.#outstanding > 0
    this.#offset += this.#outstanding
    this.#outstanding = 0
    for (;;) {
      if (this.#isWritten) this.#takeBatch()
      if (this.#isWritten) break
      try {
        this.#writeChunk()
      } catch (error) {
        if (!isFull(error) || Date.now() > deadline) return
        Atomics.wait(SLEEPER, 0, 0, RETRY_MS)
      }
    }
    if (!isTakenOver) this.#resolveWaiters()
  }

  get #isWritten(): boolean {
    return this.#offset === this.#batch.length
  }

  #onTimer(): void {
    this.#timer = null
    this.#start()
  }

  #start(): void {
    if (this.#outstanding === 0 && this.#retry === null) this.#advance()
  }

  #advance(): void {
    if (this.#isWritten) {
      this.#resolveWaiters()
      // While the timer runs and no `flush` waits, the next batch may grow.
      if (this.#waiters.length > 0 || this.#timer === null || this.#backlog.hasFullBatch) this.#takeBatch()
    }
    if (this.#isWritten) return this.#resolveWaiters()
    if (this.#descriptor.nonBlocking) return this.#writeUntilFull()
    this.#outstanding = this.#chunkLength()
    fsWrite(this.#descriptor.fd, this.#batch, this.#offset, this.#outstanding, null, (error, written) =>
      this.#onWritten(error, written),
    )
  }

  #takeBatch(): void {
    this.#batch = this.#backlog.take()
    this.#batchNumber += 1
    this.#offset = 0
  }

  /** Threads share the descriptor, so a chunk ends with a line, and on a pipe it is small enough to go in one piece. */
  #chunkLength(): number {
    const { maxChunk } = this.#descriptor
    const left = this.#batch.length - this.#offset
    if (left <= maxChunk) return left
    const lastLineEnd = this.#batch.lastIndexOf(LINE_FEED, this.#offset + maxChunk - 1)
    const end = lastLineEnd >= this.#offset ? lastLineEnd : this.#batch.indexOf(LINE_FEED, this.#offset)
    return end === -1 ? left : end + 1 - this.#offset
  }

  #onWritten(error: NodeJS.ErrnoException | null, written: number): void {
    // flushSync has taken over the rest.
    if (this.#outstanding === 0) return this.#resolveWaiters()
    this.#outstanding = 0
    if (isFull(error)) return this.#retryLater()
    if (error !== null) return this.#giveUpBatch(error)
    this.#offset += written
    this.#advance()
  }

  #writeUntilFull(): void {
    try {
      while (!this.#isWritten) this.#writeChunk()
    } catch (error) {
      if (!isFull(error)) return this.#giveUpBatch(error as NodeJS.ErrnoException)
    }
    // A long backlog is written in parts, so that the requests of the thread go on between them.
    if (!this.#isWritten || this.#backlog.hasFullBatch) return this.#retryLater()
    this.#advance()
  }

  #writeChunk(): void {
    this.#offset += writeSync(this.#descriptor.fd, this.#batch, this.#offset, this.#chunkLength())
  }

  #retryLater(): void {
    this.#retry = setTimeout(() => this.#onRetry(), RETRY_MS)
    if (this.#waiters.length === 0) this.#retry.unref()
  }

  #onRetry(): void {
    this.#retry = null
    this.#advance()
  }

  #giveUpBatch({ code }: NodeJS.ErrnoException): void {
    // A full disk may have room again later; a reader that is gone never comes back.
    this.#isBroken = code === 'EPIPE' || code === 'EBADF'
    if (this.#isBroken) {
      this.#backlog.clear()
      for (const { resolve } of this.#waiters.splice(0)) resolve()
    } else {
      this.#backlog.dropped(countLines(this.#batch, this.#offset))
    }
    this.#offset = this.#batch.length
    this.#resolveWaiters()
    if (this.#backlog.hasLines) this.#retryLater()
  }

  #resolveWaiters(): void {
    if (this.#waiters.length === 0) return
    const done = this.#waiters.filter(({ batch }) => batch <= this.#batchNumber)
    this.#waiters = this.#waiters.filter(({ batch }) => batch > this.#batchNumber)
    for (const { resolve } of done) resolve()
  }
}

/** The queue of lines that wait to be written, and the number of lines that were dropped because the queue was full. */
export class LineBacklog {
  readonly #batchLength: number
  readonly #maxLength: number
  readonly #describeDropped: (count: number) => string
  #collected = ''
  /** Full batches, as bytes: a string made of many small parts takes ten times the memory. */
  readonly #sealed: Buffer[] = []
  #sealedLength = 0
  #droppedCount = 0

  constructor({ batchLength, maxBacklog, describeDropped }: LineBacklogOptions) {
    this.#batchLength = batchLength ?? 64 * 1024
    this.#maxLength = maxBacklog ?? 8 * 1024 * 1024
    this.#describeDropped = describeDropped ?? defaultDropped
  }

  get hasFullBatch(): boolean {
    return this.#sealed.length > 0
  }

  get hasLines(): boolean {
    return this.#sealed.length > 0 || this.#collected !== ''
  }

  get batchCount(): number {
    return this.#sealed.length + (this.#collected !== '' || this.#droppedCount > 0 ? 1 : 0)
  }

  /** Adds lines; returns whether they filled a batch. `unwritten` is the number of bytes of the current batch not yet written. */
  add(lines: string, unwritten: number): boolean {
    if (this.#sealedLength + this.#collected.length + unwritten + lines.length > this.#maxLength) {
      this.#droppedCount += 1
      return false
    }
    this.#collected += lines
    if (this.#collected.length < this.#batchLength) return false
    this.#seal()
    return true
  }

  dropped(count: number): void {
    this.#droppedCount += count
  }

  /** Removes and returns the next batch; empty when no lines wait. */
  take(): Buffer {
    if (this.#sealed.length === 0) this.#seal()
    const batch = this.#sealed.shift() ?? EMPTY
    this.#sealedLength -= batch.length
    return batch
  }

  clear(): void {
    this.#collected = ''
    this.#sealed.length = 0
    this.#sealedLength = 0
    this.#droppedCount = 0
  }

  #seal(): void {
    if (this.#droppedCount > 0) this.#collected += this.#describeDropped(this.#droppedCount)
    this.#droppedCount = 0
    if (this.#collected === '') return
    const bytes = Buffer.from(this.#collected, 'utf8')
    this.#sealed.push(bytes)
    this.#sealedLength += bytes.length
    this.#collected = ''
  }
}

const EMPTY = Buffer.alloc(0)
const LINE_FEED = 0x0a
const RETRY_MS = 2
const SYNC_LIMIT_MS = 1000
const SLEEPER = new Int32Array(new SharedArrayBuffer(4))

function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'EAGAIN'
}

function countLines(bytes: Buffer, from: number): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}

function defaultDropped(count: number): string {
  return `${new Date().toISOString()}\twarn\tlog\tlines were dropped because the reader is too slow count=${count}\n`
}
