import { readFileSync } from 'node:fs'
import { ControllerStream, type StreamOptions } from './controller-stream.ts'
import type { ControllerMessage, DataPlaneMessage, Hello } from './messages.ts'
import type { Logger } from '../telemetry/log/logger.ts'

export interface ClientOptions extends Pick<StreamOptions, 'address' | 'silenceLimitMs'> {
  /** Both files are read again for each connection: tokens and CA certificates are replaced while the process runs. */
  caFile: string
  tokenFile: string
  /** Returns the first message of each connection. */
  hello: () => Hello
  /** Called when a stream has begun with `hello`. */
  opened: () => void
  received: (message: ControllerMessage, answer: (message: DataPlaneMessage) => void) => void
  log: Logger
  firstPauseMs?: number
  mostPauseMs?: number
  random?: () => number
}

/** Keeps a stream to a controller open, and reconnects whenever the stream ends. */
export class ControllerClient {
  readonly #options: ClientOptions
  #stream: ControllerStream | null = null
  #timer: NodeJS.Timeout | undefined
  #failures = 0
  /** When the first message of the stream arrived; null before. */
  #heardAt: number | null = null
  #lastCause = ''
  #isClosed = false

  constructor(options: ClientOptions) {
    this.#options = options
    this.#connect()
  }

  /** Whether a message of the controller has arrived on the open stream. */
  get isConnected(): boolean {
    return this.#heardAt !== null
  }

  /** The message is lost when no stream is open. */
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
    // A controller that accepts the stream and soon ends it still counts as a failure.
    if (heardAt !== null && performance.now() - heardAt > STEADY_MS) this.#failures = 0
    const pauseMs = this.#pause()
    const { log, address } = this.#options
    // A cause that repeats is logged as a warning only once.
    if (cause !== this.#lastCause) log.warn('controller unavailable, the live config stays active', { address, cause })
    else log.debug('controller unavailable', { address, cause, pauseMs: Math.round(pauseMs) })
    this.#lastCause = cause
    this.#timer = setTimeout(() => this.#connect(), pauseMs)
  }

  /** Between half of the full pause and the full pause, so that many data planes do not reconnect at the same time. */
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
