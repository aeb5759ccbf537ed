import { HeaderBlock } from '../header-block.ts'
import { FORBIDDEN, kindOf, ORDINARY, problemOf } from './field-kinds.ts'
import { isTrailer } from './fields.ts'
import type { FieldSink } from './hpack/decode.ts'
import type { Field } from './hpack/tables.ts'

/** The trailers of a message: what of them goes on. */
export class TrailerFields implements FieldSink {
  readonly headers = new HeaderBlock()
  /** What is wrong with the trailers; null for trailers that may be. */
  problem: string | null = null

  field(field: Field): void {
    const kind = kindOf(field)
    if (kind < ORDINARY || kind >= FORBIDDEN) this.problem ??= problemOf(field)
    else if (isTrailer(field.name)) this.headers.addChecked(field.name, field.value)
  }
}
