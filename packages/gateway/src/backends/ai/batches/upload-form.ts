import { UnsupportedField } from '@portico/chat'
import type { Sink, Source } from '@portico/http'
import { MultipartReader, type PartHead, type PartReceiver } from '@portico/http/multipart'
import { FormFields } from '../forms/form-fields.ts'
import { isBlank, type LineRefusal } from './batch-line.ts'
import { type LineCheck, LineQueue } from './line-queue.ts'
import { LineSplitter } from './line-splitter.ts'

interface UploadParts {
  /** The boundary of the client's multipart form. */
  readonly boundary: string
  /** The boundary of the multipart form to the provider, which the client cannot have guessed. */
  readonly newBoundary: string
  /** The longest line of the file, in bytes. */
  readonly maxLine: number
  /** Called once, with the line of the file's first request. */
  opened(line: Buffer): void
  /** Called once, when the form or a line of the file is refused. */
  refused(why: LineRefusal): void
  failed(error: unknown): void
}

/**
 * The multipart form with the requests of a batch. The form flows to the provider line by line while it arrives. A line
 * is sent only after its check, and the form is ended only after all lines have passed.
 */
export class UploadForm implements Sink, Source, PartReceiver {
  source: Source | null = null
  readonly length = -1
  readonly contentType: string
  readonly #body: Source
  readonly #parts: UploadParts
  readonly #reader: MultipartReader
  readonly #fields = new FormFields(FILES)
  readonly #lines: LineSplitter
  readonly #queue: LineQueue<LineRefusal>
  #part: { readonly head: PartHead; readonly chunks: Buffer[] } | null = null
  #lineCount = 0
  #isOpen = false
  #isOver = false
  /** Whether all parts of the form have arrived. */
  #isWhole = false
  #isFirst = true
  #fieldBytes = 0
  #sink: Sink | null = null

  constructor(body: Source, parts: UploadParts) {
    this.#body = body
    this.#parts = parts
    this.#reader = new MultipartReader(parts.boundary, this)
    this.contentType = `multipart/form-data; boundary=${parts.newBoundary}`
    this.#lines = new LineSplitter(parts.maxLine, (line) => this.#line(line))
    this.#queue = new LineQueue<LineRefusal>({
      write: (bytes) => this.#write(bytes),
      refused: (why) => this.#refuse(why),
      failed: (error) => {
        this.#stop(FAILED)
        parts.failed(error)
      },
      drained: () => this.#drained(),
    })
  }

  /** Reads the client's form up to the first request of the file. */
  open(): void {
    this.#body.pipe(this)
  }

  /** Sets the check of the file's lines; the form writes nothing before. */
  begin(check: LineCheck<LineRefusal>): void {
    this.#queue.check = check
  }

  /** Stops the form and drops the rest of the client's body. */
  discard(cause: Error): void {
    if (!this.#isOver) this.#stop(cause)
  }

  // `UploadForm` receives the client's body as a `Sink`.

  write(chunk: Buffer): void {
    if (this.#isOver) return
    this.#reader.push(chunk)
    this.#checkReader()
  }

  flush(): boolean {
    if (this.#isOver || this.#sink === null) return !this.#isOpen
    this.#queue.pump()
    return this.#queue.isEmpty && this.#sink !== null && this.#sink.flush()
  }

  end(): void {
    if (this.#isOver) return
    this.#reader.end()
    this.#checkReader()
    if (this.#isOver) return
    if (!this.#isOpen) return this.#refuse(new UnsupportedField('file', 'has no requests'))
    if (!this.#fields.has('purpose')) return this.#refuse(new UnsupportedField('purpose', PURPOSE))
    this.#queue.add(Buffer.from(`\r\n--${this.#parts.newBoundary}--\r\n`))
    this.#isWhole = true
    if (this.#sink === null) return
    this.#queue.pump()
    if (this.#queue.isEmpty) this.#finish()
  }

  abort(cause: Error): void {
    if (this.#isOver) return
    const sink = this.#sink
    this.#isOver = true
    this.#queue.stop()
    this.#sink = null
    sink?.abort(cause)
  }

  // `UploadForm` is the `Source` of the provider's request body.

  pipe(sink: Sink): void {
    sink.source = this
    this.#sink = sink
    this.#queue.pump()
    if (this.#queue.isEmpty) this.#drained()
  }

  resume(): void {
    if (this.#sink !== null && this.#queue.isEmpty) this.#body.resume()
  }

  cancel(cause: Error): void {
    this.discard(cause)
  }

  // `UploadForm` receives the parts of the client's form as a `PartReceiver`.

  partBegan(head: PartHead): void {
    this.#report(this.#fields.begin(head))
    if (head.name === 'file') {
      if (!head.isFile) this.#report(new UnsupportedField('file', 'must be a file'))
      this.#queue.add(this.#headOf(head))
    }
    this.#part = { head, chunks: [] }
  }

  partData(chunk: Buffer): void {
    const part = this.#part
    if (part === null || this.#reader.problem !== null || this.#isOver) return
    if (part.head.name !== 'file') {
      this.#fieldBytes += chunk.length
      if (this.#fieldBytes > MAX_FIELDS) this.#report(new UnsupportedField(part.head.name, 'is too long'))
      else part.chunks.push(Buffer.from(chunk))
    } else if (!this.#lines.push(chunk)) {
      const { maxLine } = this.#parts
      const message = `line ${this.#lineCount + 1} is longer than ${maxLine} bytes, which \`frontend.http.maxBufferSize\` allows`
      this.#report(new UnsupportedField('file', message))
    }
  }

  partEnded(): void {
    const part = this.#part
    this.#part = null
    if (part === null || this.#isOver) return
    if (part.head.name === 'file') return this.#lines.end()
    const text = Buffer.concat(part.chunks)
    this.#report(this.#fields.add(part.head, text))
    if (part.head.name === 'purpose' && text.toString('latin1') !== 'batch') {
      this.#report(new UnsupportedField('purpose', PURPOSE))
    }
    this.#queue.add(this.#headOf(part.head))
    this.#queue.add(text)
  }

  #line(line: Buffer): void {
    this.#lineCount++
    this.#queue.addLine(line, this.#lineCount)
    if (this.#isOpen || isBlank(line)) return
    this.#isOpen = true
    this.#parts.opened(line)
  }

  #headOf({ bytes }: PartHead): Buffer {
    const lineBreak = this.#isFirst ? '' : '\r\n'
    this.#isFirst = false
    return Buffer.concat([Buffer.from(`${lineBreak}--${this.#parts.newBoundary}\r\n`), bytes])
  }

  #report(problem: UnsupportedField | null): void {
    if (problem === null || this.#isOver) return
    this.#refuse(problem)
    this.#reader.refuse(problem.message)
  }

  #checkReader(): void {
    const { problem } = this.#reader
    if (problem !== null && !this.#isOver) this.#refuse(new UnsupportedField('body', problem))
  }

  #refuse(why: LineRefusal): void {
    this.#stop(REFUSED)
    this.#parts.refused(why)
  }

  #stop(cause: Error): void {
    this.#isOver = true
    this.#queue.stop()
    this.#sink = null
    if (!this.#isWhole) this.#body.cancel(cause)
  }

  #write(bytes: Buffer): void {
    this.#sink?.write(bytes)
  }

  #drained(): void {
    if (this.#isOver || this.#sink === null) return
    if (this.#isWhole) return this.#finish()
    if (this.#sink.flush()) this.#body.resume()
  }

  #finish(): void {
    const sink = this.#sink
    this.#isOver = true
    this.#sink = null
    sink?.end(null)
  }
}

const FILES: ReadonlySet<string> = new Set(['file'])
const MAX_FIELDS = 64 * 1024
const PURPOSE = 'must be `batch`: the gateway has no calls that use other files'
const REFUSED = new Error('request refused')
const FAILED = new Error('check failed')
