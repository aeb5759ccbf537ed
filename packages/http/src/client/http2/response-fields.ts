import * as kinds from '../../http2/field-kinds.ts'
import { FieldLines } from '../../http2/field-lines.ts'
import type { FieldSink } from '../../http2/hpack/decode.ts'
import type { Field } from '../../http2/hpack/tables.ts'

/** The head of a response or an interim response, read from the fields of a HEADERS frame (RFC 9113 section 8.3.2). */
export class ResponseFields extends FieldLines implements FieldSink {
  /** 0 until a valid `:status` was read. */
  status = 0
  /** -1 when the head announces no length. */
  contentLength = -1
  #problem: string | null = null
  /** Whether a regular field has arrived, after which pseudo-headers are invalid. */
  #isPastPseudo = false

  field(field: Field): void {
    this.#problem ??= this.#take(field)
  }

  /** The error code of the head; null when the head is valid. */
  get problem(): string | null {
    return this.#problem ?? (this.status === 0 ? 'bad_status' : null)
  }

  #take(field: Field): string | null {
    const { name, value } = field
    const kind = kinds.kindOf(field)
    if (kind >= kinds.ORDINARY) this.#isPastPseudo = true
    else if (this.#isPastPseudo || kind !== kinds.STATUS) return 'bad_pseudo_header'
    switch (kind) {
      case kinds.STATUS:
        if (this.status !== 0 || !/^[1-9][0-9]{2}$/.test(value)) return 'bad_status'
        this.status = Number(value)
        return null
      case kinds.HOST:
      case kinds.TE:
      case kinds.HOPS:
      case kinds.DROPPED:
        return null
      case kinds.CONTENT_LENGTH:
        if (this.contentLength !== -1) return 'second_content_length'
        if (!/^[0-9]{1,15}$/.test(value)) return 'bad_content_length'
        this.contentLength = Number(value)
        this.addLine(name, String(this.contentLength))
        return null
      case kinds.FORBIDDEN:
      case kinds.BAD_NAME:
      case kinds.BAD_VALUE:
        return kinds.problemOf(field)
    }
    this.addLine(name, value)
    return null
  }
}
