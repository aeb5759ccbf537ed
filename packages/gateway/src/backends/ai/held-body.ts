import type { Sink, Source } from '../../net/body.ts'

/** What a body's reader makes of it on the way to the client. */
export interface BodyWork {
  /** Bytes for the client; an empty list keeps them back. The next call waits for a promise. */
  chunk(chunk: Buffer): Given | Promise<Given>
  /** What is left once all has come. */
  end(): Given | Promise<Given>
  /** The body broke off: what the client is told instead, or null to cut it off there too. */
  broken(cause: Error): Given | Promise<Given> | null
  /** Nothing more is read, whole or not. */
  over(whole: boolean): void
  /** Nothing more is wanted: the rest of the body may be dropped. */
  readonly isDone: boolean
}

export type Given = readonly Buffer[]

/**
 * A body that is read before it is known whether the client gets it: a stream that begins with an error can still go
 * to another provider. `opened` is called once, when the work has let something through or has come to an end.
 */
export class HeldBody implements Source, Sink {
  source: Source | null = null
  readonly #body: Source
  readonly #work: BodyWork
  #opened: (() => void) | null
  #sink: Sink | null = null
  #kept: Buffer[] = []
  #end: 'open' | 'whole' | Error = 'open'
  #isOver = false
  /** Work that has not come to its end. */
  #waiting: Promise<void> | null = null

  constructor(body: Source, work: BodyWork, opened: () => void) {
    this.#body = body
    this.#work = work
    this.#opened = opened
  }

  get length(): number {
    return -1
  }

  /** Begins to read. */
  open(): void {
    this.#body.pipe(this)
  }

  // From the provider.

  write(chunk: Buffer): void {
    // It may be a view of a buffer that the next read fills again.
    const kept = this.#waiting === null ? chunk : Buffer.from(chunk)
    this.#do(
      () => this.#work.chunk(kept),
      () => {
        if (this.#work.isDone) this.#close('whole')
      },
    )
  }

  flush(): boolean {
    if (this.#end !== 'open') return true
    if (this.#waiting !== null) return false
    if (this.#sink !== null) return this.#sink.flush()
    // Once there is something to send, nothing more is read until somebody takes it.
    return this.#opened !== null
  }

  end(): void {
    this.#do(
      () => this.#work.end(),
      () => {
        this.#over(true)
        this.#settle('whole')
      },
    )
  }

  abort(cause: Error): void {
    let isTold = true
    this.#do(
      () => {
        const told = this.#work.broken(cause)
        isTold = told !== null
        return told ?? []
      },
      () => {
        this.#over(false)
        this.#settle(isTold ? 'whole' : cause)
      },
    )
  }

  /** One after the other, and at once as long as nothing has to be waited for. */
  #do(job: () => Given | Promise<Given>, then: () => void): void {
    const finish = (given: Given): void => {
      if (this.#end !== 'open') return
      this.#give(given)
      then()
    }
    if (this.#waiting !== null) {
      this.#wait(this.#waiting.then(() => (this.#end === 'open' ? job() : [])).then(finish))
      return
    }
    if (this.#end !== 'open') return
    const given = job()
    if (given instanceof Promise) this.#wait(given.then(finish))
    else finish(given)
  }

  #wait(work: Promise<void>): void {
    const waiting = work.then(() => {
      if (this.#waiting !== waiting) return
      this.#waiting = null
      const isWanted = this.#sink === null ? this.#opened !== null : this.#sink.flush()
      if (this.#end === 'open' && isWanted) this.#body.resume()
    })
    this.#waiting = waiting
  }

  // To the client.

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    for (const chunk of this.#kept) sink.write(chunk)
    this.#kept = []
    if (this.#end === 'whole') return sink.end(null)
    if (this.#end !== 'open') return sink.abort(this.#end)
    if (sink.flush() && this.#waiting === null) this.#body.resume()
  }

  resume(): void {
    this.#body.resume()
  }

  cancel(cause: Error): void {
    if (this.#end !== 'open') return
    this.#end = cause
    this.#over(false)
    this.#body.cancel(cause)
  }

  #give(chunks: Given): void {
    for (const chunk of chunks) {
      if (this.#sink !== null) this.#sink.write(chunk)
      // It may be a view of a buffer that the next read fills again.
      else this.#kept.push(Buffer.from(chunk))
    }
    if (chunks.length > 0) this.#tell()
  }

  /** The work is done before the body is. */
  #close(end: 'whole'): void {
    this.#over(true)
    this.#settle(end)
    this.#body.cancel(DONE)
  }

  #settle(end: 'whole' | Error): void {
    this.#end = end
    this.#tell()
    if (this.#sink === null) return
    if (end === 'whole') this.#sink.end(null)
    else this.#sink.abort(end)
  }

  #tell(): void {
    const opened = this.#opened
    this.#opened = null
    opened?.()
  }

  #over(whole: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#work.over(whole)
  }
}

const DONE = new Error('the rest of the stream is not needed')
