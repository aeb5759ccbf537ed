import type { ServerResponse } from 'node:http'

/** Server-sent events to one client: frames, comments while it is quiet, a bound on what waits for a slow reader. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #maxWaitingBytes: number
  readonly #lingerMs: number
  #quiet: NodeJS.Timeout | null = null
  #ended = false

  constructor(response: ServerResponse, { maxWaitingBytes = MAX_WAITING_BYTES, lingerMs = LINGER_MS } = {}) {
    this.#response = response
    this.#maxWaitingBytes = maxWaitingBytes
    this.#lingerMs = lingerMs
    response.once('close', () => this.#stop())
  }

  /** Whether the client reads so slowly that further events would wait in memory. */
  get isFull(): boolean {
    return this.#response.writableLength > this.#maxWaitingBytes
  }

  /** Resolves when all waiting events have been sent, or the client has disconnected. */
  drained(): Promise<void> {
    const response = this.#response
    if (this.#ended || response.destroyed || !response.writableNeedDrain) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done)
        resolve()
      }
      response.once('drain', done).once('close', done)
    })
  }

  comment(text: string): void {
    this.#write(`: ${text}\n\n`)
  }

  /** JSON has no line breaks, so it is one line of the frame. */
  data(value: object): void {
    this.#write(`data: ${JSON.stringify(value)}\n\n`)
  }

  /** From now on the client hears something each second. */
  keepAlive(): void {
    if (this.#ended) return
    this.#quiet ??= setInterval(() => {
      // Whoever reads nothing needs no sign of life.
      if (this.#response.writableLength === 0) this.#response.write(': keepalive\n\n')
    }, QUIET_MS)
  }

  end(): void {
    this.#stop()
    this.#response.end()
    // Whoever never reads the rest may not keep the connection.
    this.#response.socket?.setTimeout(this.#lingerMs)
  }

  #write(frame: string): void {
    if (this.#ended) return
    this.#response.write(frame)
    this.#quiet?.refresh()
  }

  #stop(): void {
    this.#ended = true
    if (this.#quiet !== null) clearInterval(this.#quiet)
  }
}

const QUIET_MS = 1000
const LINGER_MS = 5000
const MAX_WAITING_BYTES = 1024 * 1024
