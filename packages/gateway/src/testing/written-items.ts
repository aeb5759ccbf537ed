import { ITEM } from '../telemetry/otlp/envelope.ts'
import type { ItemQueue } from '../telemetry/otlp/item-queue.ts'
import { WireBuffer } from '../telemetry/otlp/wire-buffer.ts'

/** Keeps what would go to a collector. */
export class WrittenItems implements ItemQueue {
  readonly #wire = new WireBuffer()
  #size = 0

  begin(): WireBuffer {
    this.#wire.cut(this.#size)
    this.#wire.open(ITEM)
    return this.#wire
  }

  added(): void {
    this.#wire.close(this.#size)
    this.#size = this.#wire.length
  }

  /** All items since the last time, as they stand in a request. */
  take(): Buffer {
    this.#wire.cut(this.#size)
    this.#size = 0
    return this.#wire.take()
  }
}
