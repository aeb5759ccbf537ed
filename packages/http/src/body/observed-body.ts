import type { Source } from './body.ts'
import type { HeaderBlock } from '../fields/header-block.ts'
import { ThroughBody } from './through-body.ts'

interface BodyObserver {
  /**
   * Called with each chunk before it is forwarded; the chunk may be a view of a buffer that the next read overwrites.
   */
  chunk(chunk: Buffer): void
  /**
   * Called once, before the consumer of the body is notified of its end. `whole` is false when the body broke off or
   * was canceled. `cause` is why it broke off; null otherwise.
   */
  over(whole: boolean, cause: Error | null): void
}

/** A body that is forwarded unchanged, and observed. */
export class ObservedBody extends ThroughBody {
  readonly #observer: BodyObserver
  #isOver = false

  constructor(body: Source, observer: BodyObserver) {
    super(body)
    this.#observer = observer
  }

  override cancel(cause: Error): void {
    this.#over(false, null)
    super.cancel(cause)
  }

  override write(chunk: Buffer): void {
    this.#observer.chunk(chunk)
    super.write(chunk)
  }

  override end(trailers: HeaderBlock | null): void {
    this.#over(true, null)
    super.end(trailers)
  }

  override abort(cause: Error): void {
    this.#over(false, cause)
    super.abort(cause)
  }

  #over(whole: boolean, cause: Error | null): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#observer.over(whole, cause)
  }
}
