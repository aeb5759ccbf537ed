import { readFileSync } from 'node:fs'
import { ControllerStream, type StreamOptions } from './controller-stream.ts'
import type { ControllerMessage, DataPlaneMessage, Hello } from './messages.ts'
import type { Logger } from '../telemetry/log/logger.ts'

export interface ClientOptions extends Pick<StreamOptions, 'address' | 'silenceLimitMs'> {
  /** Both are read anew for each connection: tokens and authorities are replaced while we run. */
  caFile: string
  tokenFile: string
  /** What to say first; asked for each connection. */
  hello: () => Hello
  /** A stream has begun with `hello`. */
  opened: () => void
  received: (message: ControllerMessage, answer: (message: DataPlaneMessage) => void) => void
  log: Logger
  firstPauseMs?: number
  mostPauseMs?: number
  random?: () => number
}

/** Keeps a stream to a controller, and comes back whenever it ends. */
export class ControllerClient {
  readonly #options: ClientOptions
  #stream: ControllerStream | null = null
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  /** When the stream was first heard from; null before. */
  #heardAt: number | null = null
  #lastCause = ''
  #isClosed = false

  constructor(options: ClientOptions) {
    this.#options = options
    this.#connect()
  }

  /** Whether the controller has been heard from on the stream that is open. */
  get isConnected(): boolean {
    return this.#heardAt !== null
  }

  /** Lost where no stream is open. */
  send(message: DataPlaneMessage): void {
    this.#stream?.send(message)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#stream?.close()
  }

  #connect(): void {
    const { address, caFile, tokenFile, hello, silenceLimitMs } = this.#options
    try {
      const stream: ControllerStream = new ControllerStream({
        address,
        ca: readText(caFile),
        token: readText(tokenFile).trim(),
        hello: hello(),
        silenceLimitMs,
        received: (message) => this.#received(message, (answer) => stream.send(answer)),
        ended: (cause) => this.#ended(cause),
      })
      this.#stream = stream
      this.#options.opened()
    } catch (error) {
      this.#ended(error instanceof Error ? error.message : String(error))
    }
  }

  #received(message: ControllerMessage, answer: (message: DataPlaneMessage) => void): void {
    if (this.#heardAt === null) {
      this.#heardAt = performance.now()
      this.#lastCause = ''
      this.#options.log.info('connected to the controller', { address: this.#options.address })
    }
    this.#options.received(message, answer)
  }

  #ended(cause: string): void {
    this.#stream = null
    const heardAt = this.#heardAt
    this.#heardAt = null
    if (this.#isClosed) return
    // One that takes us and sends us away again is not better than none.
    if (heardAt !== null && performance.now() - heardAt > STEADY_MS) this.#failures = 0
    const pauseMs = this.#pause()
    const { log, address } = this.#options
    // The same again and again is one line.
    if (cause !== this.#lastCause) log.warn('no controller, what is live stays', { address, cause })
    else log.debug('no controller', { address, cause, pauseMs: Math.round(pauseMs) })
    this.#lastCause = cause
    this.#timer = setTimeout(() => this.#connect(), pauseMs)
  }

  /** Between half of the full pause and all of it, so that many data planes do not come back together. */
  #pause(): number {
    const { firstPauseMs = 250, mostPauseMs = 15_000, random = Math.random } = this.#options
    const full = Math.min(mostPauseMs, firstPauseMs * 2 ** Math.min(this.#failures++, 16))
    return full * (0.5 + random() / 2)
  }
}

function readText(file: string): string {
  const text = readFileSync(file, 'utf8')
  if (text.trim() === '') throw new Error(`${file} is empty`)
  return text
}

const STEADY_MS = 5_000
