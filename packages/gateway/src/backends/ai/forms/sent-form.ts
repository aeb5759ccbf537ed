import { type JsonObject, UnsupportedField } from '@portico/chat'
import type { Sink, Source } from '@portico/http'
import type { MemberEdits } from '@portico/http/json'
import { fieldsOf, nameOfField } from './form-fields.ts'
import type { FormBody, FormFollower } from './form-body.ts'
import type { HeldPart } from './held-parts.ts'

/** The changes of fields for one provider, by the fields that are known. */
type FormEdits = (fields: JsonObject) => MemberEdits

/**
 * A form on its way to one provider, with edited fields. Its boundary is a new one that the client cannot have guessed,
 * so that no server finds other parts in the content of a file than the gateway has found.
 */
export class SentForm implements Source, FormFollower {
  /** Number of bytes; -1 when later parts may change. */
  readonly length: number
  readonly contentType: string
  readonly #form: FormBody
  readonly #edits: FormEdits
  readonly #boundary: string
  /** The held parts; empty once they were sent and cannot be sent again. */
  #first: readonly Buffer[]
  /** Fields of the edits that were written. */
  readonly #written = new Set<string>()
  #sent = 0
  #sink: Sink | null = null
  #isCancelled = false

  /** Returns the field that cannot be sent, if there is one. */
  static create(
    form: FormBody,
    edits: FormEdits,
    newBoundary: (length: number) => string,
  ): SentForm | UnsupportedField {
    const current = edits(form.fields)
    for (const [name, value] of current) {
      if (fieldsOf(name, value) === null) return new UnsupportedField(name, 'cannot be a field of a form')
    }
    return new SentForm(form, { edits, current, boundary: newBoundary(Math.max(form.boundary.length, LEAST_BOUNDARY)) })
  }

  private constructor(
    form: FormBody,
    { edits, current, boundary }: { edits: FormEdits; current: MemberEdits; boundary: string },
  ) {
    this.#form = form
    this.#edits = edits
    this.#boundary = boundary
    this.contentType = `multipart/form-data; boundary=${boundary}`
    const { held } = form
    const parts = held.flatMap((part) => this.#partOf(part, current))
    this.#first = form.isWhole ? [...parts, ...this.#last(current)] : parts
    const size = sizeOf(this.#first)
    if (form.isWhole) this.length = size - LINE_BREAK
    else {
      const isSame =
        boundary.length === form.boundary.length && [...current.keys()].every((name) => this.#written.has(name))
      const change = size - held.reduce((sum, part) => sum + sizeOf(this.#unchanged(part)), 0)
      const firstBreak = form.hasFirstBreak ? LINE_BREAK : 0
      this.length = isSame && form.length !== -1 ? form.length + change - firstBreak : -1
    }
  }

  /** Whether the whole form is at hand, so that it can be sent again. */
  get whole(): boolean {
    return this.#form.isWhole
  }

  // As the source of the request.

  pipe(sink: Sink): void {
    this.#isCancelled = false
    sink.source = this
    this.#sink = sink
    this.#sent = 0
    if (this.#form.isWhole) {
      for (const bytes of this.#first) this.#write(bytes)
      return this.#end()
    }
    this.#form.follow(this)
    for (const bytes of this.#first) this.#write(bytes)
    this.#first = []
    if (!this.#isCancelled && sink.flush()) this.#form.resume()
  }

  resume(): void {
    this.#form.resume()
  }

  cancel(cause: Error): void {
    this.#isCancelled = true
    this.#sink = null
    this.#form.unfollow(this, cause)
  }

  // As the follower of the form.

  flush(): boolean {
    return this.#sink === null || this.#sink.flush()
  }

  fileBegan({ head }: HeldPart): void {
    this.#write(this.#delimiter())
    this.#write(head.bytes)
  }

  fileData(chunk: Buffer): void {
    this.#write(chunk)
  }

  field(part: HeldPart): void {
    for (const bytes of this.#partOf(part, this.#edits(this.#form.fields))) this.#write(bytes)
  }

  end(): void {
    for (const bytes of this.#last(this.#edits(this.#form.fields))) this.#write(bytes)
    this.#end()
  }

  abort(cause: Error): void {
    const sink = this.#sink
    this.#sink = null
    sink?.abort(cause)
  }

  #write(bytes: Buffer): void {
    if (this.#isCancelled) return
    // The first delimiter is the only one without a line break before it.
    const piece = this.#sent === 0 ? bytes.subarray(LINE_BREAK) : bytes
    this.#sent += bytes.length
    // A body that is longer than announced would be the beginning of another request.
    if (this.length !== -1 && this.#sent - LINE_BREAK > this.length) return this.#miscounted()
    this.#sink?.write(piece)
  }

  #end(): void {
    if (this.#isCancelled) return
    if (this.length !== -1 && this.#sent - LINE_BREAK !== this.length) return this.#miscounted()
    const sink = this.#sink
    this.#sink = null
    sink?.end(null)
  }

  #miscounted(): void {
    this.#isCancelled = true
    this.abort(new Error('the form does not have the announced length'))
  }

  /** The part as it is sent: as it came, with another text, or not at all. */
  #partOf(part: HeldPart, edits: MemberEdits): Buffer[] {
    if (part.isFile) return this.#unchanged(part)
    const name = nameOfField(part.head.name)
    if (!edits.has(name)) return this.#unchanged(part)
    // The first part of a list has the whole list.
    if (this.#written.has(name)) return []
    this.#written.add(name)
    return this.#fields(name, edits)
  }

  #unchanged({ head, chunks }: HeldPart): Buffer[] {
    return [this.#delimiter(), head.bytes, ...chunks]
  }

  #fields(name: string, edits: MemberEdits): Buffer[] {
    const fields = fieldsOf(name, edits.get(name)) ?? []
    return fields.flatMap(([field, text]) => [
      this.#delimiter(),
      Buffer.from(`Content-Disposition: form-data; name="${field}"\r\n\r\n`),
      Buffer.from(text),
    ])
  }

  /** The fields that the client did not send, and the end. */
  #last(edits: MemberEdits): Buffer[] {
    const missing = [...edits.keys()].filter((name) => !this.#written.has(name))
    const end = `\r\n--${this.#boundary}--${this.#form.hasLastBreak ? '\r\n' : ''}`
    return [...missing.flatMap((name) => this.#fields(name, edits)), Buffer.from(end)]
  }

  #delimiter(): Buffer {
    return Buffer.from(`\r\n--${this.#boundary}\r\n`)
  }
}

function sizeOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}

/** Shorter ones could be guessed. */
const LEAST_BOUNDARY = 24
const LINE_BREAK = 2
