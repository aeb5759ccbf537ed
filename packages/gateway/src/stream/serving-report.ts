interface ServingReportOptions {
  isServing: () => boolean
  /** Sends a `health` message on the stream that is open. */
  send: (serving: boolean) => void
  /** Milliseconds that an outage must last before it is reported: a worker that died is usually replaced sooner. */
  patienceMs?: number
}

/**
 * Tells the controller whether a worker listens. An outage is reported once it has lasted, its end at once. A
 * controller considers a data plane serving until it hears otherwise, so each new stream starts from that.
 */
export class ServingReport {
  readonly #options: ServingReportOptions
  /** The state that the controller assumes. */
  #reported = true
  /** Whether the outage has lasted longer than `patienceMs`. */
  #isOut = false
  #timer: NodeJS.Timeout | undefined

  constructor(options: ServingReportOptions) {
    this.#options = options
  }

  /** Called when a worker began to listen, or died. */
  check(): void {
    if (this.#options.isServing()) {
      clearTimeout(this.#timer)
      this.#timer = undefined
      this.#isOut = false
      return this.#report(true)
    }
    if (this.#isOut) return this.#report(false)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#isOut = !this.#options.isServing()
      this.#report(!this.#isOut)
    }, this.#options.patienceMs ?? PATIENCE_MS).unref()
  }

  /** Called when a stream has opened, on which nothing has been reported yet. */
  opened(): void {
    this.#reported = true
    this.check()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #report(serving: boolean): void {
    if (serving === this.#reported) return
    this.#reported = serving
    this.#options.send(serving)
  }
}

const PATIENCE_MS = 2_000
