import { type HeaderBlock, type Source, ThroughBody } from '@portico/http'
import { isBlank } from './batch-line.ts'
import { type LineCheck, LineQueue } from './line-queue.ts'
import { LineSplitter } from './line-splitter.ts'

interface ResultParts {
  /** Checks each line of the results; null when lines pass unchanged. */
  readonly check: LineCheck<Error> | null
  /** The longest line, in bytes; the results break off before a longer line. */
  readonly maxLine: number
  /** Called with each line that is passed on to the client. */
  line(line: Buffer, number: number): void
  /** Called once, at the end of the results: `lines` lines were passed on, which are all lines when `isWhole`. */
  over(lines: number, isWhole: boolean, cause: Error | null): void
}

/** The body of a batch's results, which passes to the client line by line. */
export class ResultBody extends ThroughBody {
  readonly #parts: ResultParts
  readonly #lines: LineSplitter
  readonly #queue: LineQueue<Error>
  #lineCount = 0
  #passed = 0
  #isOver = false
  #hasEnded = false
  #trailers: HeaderBlock | null = null

  constructor(body: Source, parts: ResultParts) {
    super(body)
    this.#parts = parts
    this.#lines = new LineSplitter(parts.maxLine, (line) => {
      this.#queue.addLine(line, ++this.#lineCount)
    })
    this.#queue = new LineQueue<Error>({
      write: (bytes, number) => this.#write(bytes, number),
      refused: (cause) => this.#fail(cause),
      failed: (error) => this.#fail(error instanceof Error ? error : new Error('check failed')),
      drained: () => this.#drained(),
    })
    this.#queue.check = parts.check ?? ((bytes) => ({ bytes }))
  }

  override get length(): number {
    return this.#parts.check === null ? this.body.length : -1
  }

  override cancel(cause: Error): void {
    this.#end(false, null)
    this.#queue.stop()
    super.cancel(cause)
  }

  override write(chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#lines.push(chunk)) return this.#queue.pump()
    this.#fail(new Error(`line ${this.#lineCount + 1} of the results is longer than ${this.#parts.maxLine} bytes`))
  }

  override flush(): boolean {
    return this.#queue.isEmpty && super.flush()
  }

  override resume(): void {
    if (this.#queue.isEmpty) super.resume()
  }

  override end(trailers: HeaderBlock | null): void {
    if (this.#isOver) return
    this.#lines.end()
    this.#hasEnded = true
    this.#trailers = trailers
    this.#queue.pump()
    if (this.#queue.isEmpty) this.#finish()
  }

  override abort(cause: Error): void {
    if (this.#isOver) return
    this.#queue.stop()
    this.#end(false, cause)
    super.abort(cause)
  }

  #write(bytes: Buffer, number: number): void {
    if (this.#isOver) return
    if (number > 0) {
      if (!isBlank(bytes)) this.#parts.line(bytes, number)
      this.#passed = number
    }
    super.write(bytes)
  }

  #drained(): void {
    if (this.#isOver) return
    if (this.#hasEnded) this.#finish()
    else if (super.flush()) this.body.resume()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#end(true, null)
    super.end(this.#trailers)
  }

  #fail(cause: Error): void {
    if (this.#isOver) return
    this.#queue.stop()
    this.#end(false, cause)
    this.body.cancel(cause)
    super.abort(cause)
  }

  #end(isWhole: boolean, cause: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#parts.over(this.#passed, isWhole, cause)
  }
}
