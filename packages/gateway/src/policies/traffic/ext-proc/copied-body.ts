import { type HeaderBlock, type Source, ThroughBody } from '@portico/http'

/** The receiver of a copy of a body and of its end. */
interface CopySink {
  /** The memory of the chunk is reused after the call. */
  write(chunk: Buffer): void
  end(trailers: HeaderBlock | null): void
}

/** A body that passes unchanged, with a copy for an observer. */
export class CopiedBody extends ThroughBody {
  readonly #copy: CopySink

  constructor(body: Source, copy: CopySink) {
    super(body)
    this.#copy = copy
  }

  override write(chunk: Buffer): void {
    this.#copy.write(chunk)
    super.write(chunk)
  }

  override end(trailers: HeaderBlock | null): void {
    this.#copy.end(trailers)
    super.end(trailers)
  }
}
