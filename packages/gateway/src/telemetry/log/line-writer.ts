import { write as fsWrite, writeSync } from 'node:fs'
import { lineDescriptor } from './line-descriptor.ts'

export interface LineWriter {
  /** Takes whole lines, each ending with a line feed. */
  write: (lines: string) => void
  /** Resolves when everything written before the call has left or was given up. */
  flush(): Promise<void>
  /** For the last moments of a process: blocks, but not for longer than a second. */
  flushSync(): void
}

export interface LineWriterOptions {
  fd?: number
  /** Lines wait at most this long. */
  delayMs?: number
  /** Collected characters that start a write at once. */
  batchLength?: number
  /** Waiting characters beyond which new lines are dropped and counted. */
  maxBacklog?: number
  /** The line that tells of dropped ones, with its line feed. */
  describeDropped?: (count: number) => string
}

/** Batches lines to a file descriptor with one asynchronous write at a time; a slow or gone reader never blocks or throws. */
export function createLineWriter(options: LineWriterOptions = {}): LineWriter {
  const { delayMs = 20, batchLength = 64 * 1024, maxBacklog = 8 * 1024 * 1024 } = options
  const { describeDropped = defaultDropped } = options
  const { fd, maxChunk, nonBlocking } = lineDescriptor(options.fd ?? 1)

  let collected = ''
  // Full batches that wait: bytes, because a string made of many small parts takes ten times the memory.
  const sealed: Buffer[] = []
  let sealedLength = 0
  let dropped = 0
  let timer: NodeJS.Timeout | null = null
  let retry: NodeJS.Timeout | null = null

  let batch: Buffer = EMPTY
  let batchNumber = 0
  let offset = 0
  // Length of the write the system is working on, 0 when there is none.
  let outstanding = 0
  let broken = false
  let waiters: { batch: number; resolve: () => void }[] = []

  return { write, flush, flushSync }

  function write(lines: string): void {
    if (broken) return
    if (sealedLength + collected.length + batch.length - offset + lines.length > maxBacklog) {
      dropped += 1
      return
    }
    collected += lines
    if (collected.length >= batchLength) {
      seal()
      start()
    } else {
      timer ??= setTimeout(onTimer, delayMs).unref()
    }
  }

  function onTimer(): void {
    timer = null
    start()
  }

  function start(): void {
    if (outstanding === 0 && retry === null) advance()
  }

  function advance(): void {
    if (offset === batch.length) {
      settle()
      // While the timer runs and nobody waits, the next batch may grow.
      if (waiters.length > 0 || timer === null || sealed.length > 0) takeBatch()
    }
    if (offset === batch.length) return settle()
    if (nonBlocking) return writeUntilFull()
    outstanding = chunkLength()
    fsWrite(fd, batch, offset, outstanding, null, onWritten)
  }

  function seal(): void {
    if (dropped > 0 && !broken) collected += describeDropped(dropped)
    dropped = 0
    if (collected === '') return
    const bytes = Buffer.from(collected, 'utf8')
    sealed.push(bytes)
    sealedLength += bytes.length
    collected = ''
  }

  function takeBatch(): void {
    if (sealed.length === 0) seal()
    batch = sealed.shift() ?? EMPTY
    sealedLength -= batch.length
    batchNumber += 1
    offset = 0
  }

  /** Threads share the descriptor, so a chunk ends with a line, and on a pipe it is small enough to go in one piece. */
  function chunkLength(): number {
    if (batch.length - offset <= maxChunk) return batch.length - offset
    const lastLineEnd = batch.lastIndexOf(LINE_FEED, offset + maxChunk - 1)
    const end = lastLineEnd >= offset ? lastLineEnd : batch.indexOf(LINE_FEED, offset)
    return end === -1 ? batch.length - offset : end + 1 - offset
  }

  function onWritten(error: NodeJS.ErrnoException | null, written: number): void {
    // flushSync has taken over the rest.
    if (outstanding === 0) return settle()
    outstanding = 0
    if (error?.code === 'EAGAIN') return retryLater()
    if (error !== null) return giveUpBatch(error)
    offset += written
    advance()
  }

  function writeUntilFull(): void {
    try {
      while (offset < batch.length) offset += writeSync(fd, batch, offset, chunkLength())
    } catch (error) {
      if (!isFull(error)) return giveUpBatch(error as NodeJS.ErrnoException)
    }
    // A long backlog is written in parts, so that the requests of the thread go on between them.
    if (offset < batch.length || sealed.length > 0) return retryLater()
    advance()
  }

  function retryLater(): void {
    retry = setTimeout(onRetry, RETRY_MS)
    if (waiters.length === 0) retry.unref()
  }

  function onRetry(): void {
    retry = null
    advance()
  }

  function giveUpBatch(error: NodeJS.ErrnoException): void {
    // A full disk may have room again later; a reader that is gone never comes back.
    broken = error.code === 'EPIPE' || error.code === 'EBADF'
    if (broken) {
      collected = ''
      sealed.length = 0
      sealedLength = 0
      waiters.forEach(({ resolve }) => resolve())
      waiters = []
    } else {
      dropped += countLines(batch, offset)
    }
    offset = batch.length
    settle()
    if (sealed.length > 0 || collected !== '') retryLater()
  }

  function settle(): void {
    const done = waiters.filter((waiter) => waiter.batch <= batchNumber)
    waiters = waiters.filter((waiter) => waiter.batch > batchNumber)
    for (const { resolve } of done) resolve()
  }

  function flush(): Promise<void> {
    return new Promise((resolve) => {
      const unsealed = collected !== '' || dropped > 0 ? 1 : 0
      waiters.push({ batch: batchNumber + sealed.length + unsealed, resolve })
      retry?.ref()
      start()
    })
  }

  function flushSync(): void {
    if (broken) return
    const deadline = Date.now() + SYNC_LIMIT_MS
    // What the outstanding write already took is left to the system, and whoever waits goes on waiting for it.
    const takenOver = outstanding > 0
    offset += outstanding
    outstanding = 0
    for (;;) {
      if (offset === batch.length) takeBatch()
      if (offset === batch.length) break
      try {
        offset += writeSync(fd, batch, offset, chunkLength())
      } catch (error) {
        if (!isFull(error) || Date.now() > deadline) return
        Atomics.wait(SLEEPER, 0, 0, RETRY_MS)
      }
    }
    if (!takenOver) settle()
  }
}

const EMPTY = Buffer.alloc(0)
const LINE_FEED = 0x0a
const RETRY_MS = 2
const SYNC_LIMIT_MS = 1000
const SLEEPER = new Int32Array(new SharedArrayBuffer(4))

function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EAGAIN'
}

function countLines(bytes: Buffer, from: number): number {
  let count = 0
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1
  return count
}

function defaultDropped(count: number): string {
  return `${new Date().toISOString()}\twarn\tlog\tlines were dropped because the reader is too slow count=${count}\n`
}
