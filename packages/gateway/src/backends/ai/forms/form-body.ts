import { type JsonObject, UnsupportedField } from '@portico/chat'
import type { Sink, Source } from '@portico/http'
import { MultipartReader, type PartHead, type PartReceiver } from '@portico/http/multipart'
import { FormFields } from './form-fields.ts'
import { append, type FormFiles, type HeldPart, type HoldNeeds, tooLong } from './held-parts.ts'

/** Receives the parts of a form after the held ones. */
export interface FormFollower {
  flush(): boolean
  fileBegan(part: HeldPart): void
  fileData(chunk: Buffer): void
  field(part: HeldPart): void
  end(): void
  abort(cause: Error): void
}

/**
 * The form of a client. Its parts are held until the call knows what it needs to begin; the rest flows to the provider
 * while it arrives.
 */
export class FormBody implements Sink, PartReceiver {
  source: Source | null = null
  /** The reason why the form is refused. */
  problem: UnsupportedField | null = null
  /** Called when the form turns out to be malformed after a part of it went to a provider. */
  refused: (why: UnsupportedField) => void = () => {}
  /** Whether the form has arrived, from its first to its last part. */
  isWhole = false
  /** Whether the form can be sent, from its first part, to another provider. */
  isRepeatable = true
  readonly boundary: string
  readonly length: number
  #parts: HeldPart[] = []
  readonly #body: Source
  readonly #limit: number
  readonly #fields: FormFields
  readonly #reader: MultipartReader
  #heldBytes = 0
  #part: HeldPart | null = null
  #hasFile = false
  #isStarted = false
  #waiting: Waiting | null = null
  #follower: FormFollower | null = null

  /** `files` are the names of the parts that pass unread; `limit` is the most that is held, in bytes. */
  constructor(
    body: Source,
    { boundary, files, limit }: { boundary: string; files: ReadonlySet<string>; limit: number },
  ) {
    this.#body = body
    this.boundary = boundary
    this.length = body.length
    this.#limit = limit
    this.#fields = new FormFields(files)
    this.#reader = new MultipartReader(boundary, this)
  }

  get fields(): JsonObject {
    return this.#fields.json()
  }

  get hasFirstBreak(): boolean {
    return this.#reader.hasFirstBreak
  }

  get hasLastBreak(): boolean {
    return this.#reader.hasLastBreak
  }

  get held(): readonly HeldPart[] {
    return this.#parts
  }

  /** The bytes and the names of the files, as far as they are known. */
  get files(): FormFiles {
    const files = this.#parts.filter(({ isFile }) => isFile)
    const held = files.reduce((sum, { size }) => sum + size, 0)
    return { bytes: this.isWhole ? held : this.length, names: files.map(({ head }) => head.name) }
  }

  /** The bytes of a whole form, as the client has sent them. */
  bytes(): Buffer {
    const lines = this.#parts.flatMap(({ head, chunks }) => [`\r\n--${this.boundary}\r\n`, head.bytes, ...chunks])
    const end = `\r\n--${this.boundary}--${this.hasLastBreak ? '\r\n' : ''}`
    const whole = Buffer.concat([...lines, end].map((piece) => Buffer.from(piece)))
    return this.hasFirstBreak ? whole : whole.subarray(LINE_BREAK)
  }

  /**
   * Holds parts until the form is whole, or until these fields and the beginning of a file are there. `done` gets the
   * problem of a form that is refused.
   */
  hold(needs: HoldNeeds, done: (problem: UnsupportedField | null) => void): void {
    this.#waiting = { needs, done }
    if (this.#settle()) return
    if (this.#isStarted) return this.#body.resume()
    this.#isStarted = true
    this.#body.pipe(this)
  }

  /** Lets the parts after the held ones flow to a provider. A form that is whole needs no follower. */
  follow(follower: FormFollower): void {
    this.#follower = follower
    this.isRepeatable = false
    this.#parts = []
  }

  /** Ends the flow to a provider. A form that cannot be sent again is not read on. */
  unfollow(follower: FormFollower, cause: Error): void {
    if (this.#follower !== follower) return
    this.#follower = null
    if (!this.isWhole) this.#body.cancel(cause)
  }

  resume(): void {
    this.#body.resume()
  }

  /** Drops what has not been read. */
  discard(cause: Error): void {
    this.#waiting = null
    if (!this.isWhole && this.#follower === null) this.#body.cancel(cause)
  }

  // As the sink of the client's body.

  write(chunk: Buffer): void {
    if (this.problem !== null) return
    this.#reader.push(chunk)
    this.#checkReader()
  }

  flush(): boolean {
    this.#settle()
    // The call may wait for more now, or send the form.
    return this.#follower === null ? this.#waiting !== null : this.#follower.flush()
  }

  end(): void {
    this.#reader.end()
    this.#checkReader()
    if (this.problem !== null) return void this.#settle()
    this.isWhole = true
    if (this.#follower !== null) return this.#follower.end()
    this.#settle()
  }

  abort(cause: Error): void {
    this.#waiting = null
    const follower = this.#follower
    this.#follower = null
    follower?.abort(cause)
  }

  // As the receiver of the parts.

  partBegan(head: PartHead): void {
    const problem = this.#fields.begin(head)
    if (problem !== null) return this.#refuse(problem)
    const isFile = this.#fields.isFile(head)
    this.#part = { head, isFile, chunks: [], size: 0 }
    if (!isFile) return
    this.#hasFile = true
    if (this.#follower === null) this.#hold(this.#part)
    else this.#follower.fileBegan(this.#part)
  }

  partData(chunk: Buffer): void {
    const part = this.#part
    if (part === null) return
    if (part.isFile && this.#follower !== null) return this.#follower.fileData(chunk)
    part.size += chunk.length
    if (!part.isFile && part.size > MAX_FIELD) {
      return this.#refuse(new UnsupportedField(part.head.name, `is longer than ${MAX_FIELD} bytes`))
    }
    this.#heldBytes += chunk.length
    append(part, chunk)
  }

  partEnded(): void {
    const part = this.#part
    if (part === null) return
    this.#part = null
    if (part.isFile) return
    const problem = this.#fields.add(part.head, Buffer.concat(part.chunks))
    if (problem !== null) this.#refuse(problem)
    else if (this.#follower === null) this.#hold(part)
    else this.#follower.field(part)
  }

  #hold(part: HeldPart): void {
    this.#parts.push(part)
    this.#heldBytes += part.head.bytes.length
  }

  /** Ends the wait of `hold` when it is over; returns whether nothing waits. */
  #settle(): boolean {
    const waiting = this.#waiting
    if (waiting === null) return true
    const { needs, done } = waiting
    const isHeld = this.isWhole || this.#hasEnough(needs)
    const isTooLong = this.#heldBytes > this.#limit && (needs.isWhole || !isHeld)
    const problem = this.problem ?? (isTooLong ? tooLong(needs, this.#limit) : null)
    if (problem === null && !isHeld) return false
    this.#waiting = null
    done(problem)
    return true
  }

  /** A short form is read to its end, so that it can be sent again and its length is known. */
  #hasEnough({ fields, isWhole }: HoldNeeds): boolean {
    if (isWhole || !this.#hasFile || this.#heldBytes < SHORT_FORM) return false
    return fields.every((name) => this.#fields.has(name))
  }

  #checkReader(): void {
    const { problem } = this.#reader
    if (problem === null || this.problem !== null) return
    this.#refuse(new UnsupportedField('body', `is a form that cannot be read: ${problem}`))
  }

  #refuse(why: UnsupportedField): void {
    this.#reader.refuse(why.message)
    if (this.problem !== null) return
    this.problem = why
    this.#part = null
    const follower = this.#follower
    if (follower === null) return
    this.#follower = null
    this.#body.cancel(REFUSED)
    follower.abort(REFUSED)
    this.refused(why)
  }
}

interface Waiting {
  readonly needs: HoldNeeds
  readonly done: (problem: UnsupportedField | null) => void
}

const REFUSED = new Error('the form of the client is malformed')
/** One text field, in bytes. */
const MAX_FIELD = 256 * 1024
const SHORT_FORM = 64 * 1024
const LINE_BREAK = 2
