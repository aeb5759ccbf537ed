import { HeaderBlock } from '../fields/header-block.ts'
import { FORBIDDEN, kindOf, ORDINARY, problemOf } from './field-kinds.ts'
import { isTrailer } from './fields.ts'
import type { FieldSink } from './hpack/decode.ts'
import type { Field } from './hpack/tables.ts'

/** Collects the trailers of a message that may be forwarded. */
export class TrailerFields implements FieldSink {
  readonly headers = new HeaderBlock()
  /** Error code of the trailers; null when they are valid. */
  problem: string | null = null

  field(field: Field): void {
    const kind = kindOf(field)
    if (kind < ORDINARY || kind >= FORBIDDEN) this.problem ??= problemOf(field)
    else if (isTrailer(field.name)) this.headers.addChecked(field.name, field.value)
  }
}
