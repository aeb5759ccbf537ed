/** Counts queued bytes: calls `full` above `maxBytes`, and `drained` at half of it. */
export class Flow {
  readonly #options: FlowOptions
  #bytes = 0
  #isFull = false

  constructor(options: FlowOptions) {
    this.#options = options
  }

  changed(bytes: number): void {
    this.#bytes += bytes
    if (!this.#isFull && this.#bytes > this.#options.maxBytes) {
      this.#isFull = true
      this.#options.full()
    } else if (this.#isFull && this.#bytes <= this.#options.maxBytes / 2) {
      this.#isFull = false
      this.#options.drained()
    }
  }
}

interface FlowOptions {
  maxBytes: number
  full: () => void
  drained: () => void
}
