import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { LineReader } from './line-reader.ts'
import {
  CONTROLLER_LINE_LIMIT,
  type ControllerMessage,
  type DataPlaneMessage,
  type Hello,
  lineOf,
  SILENCE_LIMIT_MS,
  STREAM_PATH,
} from './messages.ts'
import { readControllerLine } from './read-messages.ts'

export interface StreamOptions {
  /** `host:port` */
  address: string
  /** PEM. A server whose certificate is from another CA is not our controller. */
  ca: string
  token: string
  hello: Hello
  /** Throws when a message violates the protocol; that ends the stream. */
  received: (message: ControllerMessage) => void
  /** Called once, for whatever reason the stream ended. */
  ended: (cause: string) => void
  silenceLimitMs?: number
}

/** One stream to a controller, from `hello` until either side closes it. */
export class ControllerStream {
  readonly #session: ClientHttp2Session
  readonly #stream: ClientHttp2Stream
  readonly #options: StreamOptions
  readonly #watch: NodeJS.Timeout
  #quietTicks = 0
  #isOver = false

  constructor(options: StreamOptions) {
    this.#options = options
    const { address, ca, token, hello, silenceLimitMs = SILENCE_LIMIT_MS } = options
    this.#session = connect(`https://${address}`, {
      ca,
      minVersion: 'TLSv1.3',
      settings: { enablePush: false, initialWindowSize: WINDOW },
    })
    this.#session.on('error', (error) => this.#end(describe(error)))
    this.#session.on('connect', (session) => session.setLocalWindowSize(2 * WINDOW))
    this.#stream = this.#session.request(
      {
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: STREAM_PATH,
        [constants.HTTP2_HEADER_AUTHORIZATION]: `Bearer ${token}`,
        [constants.HTTP2_HEADER_CONTENT_TYPE]: 'application/jsonl',
      },
      { endStream: false },
    )
    // When the thread was busy, only one tick runs, however much time has passed: messages that arrived meanwhile are
    // read first.
    this.#watch = setInterval(() => this.#tick(), silenceLimitMs / TICKS)
    this.#listen()
    this.#stream.write(lineOf(hello))
  }

  get isOver(): boolean {
    return this.#isOver
  }

  send(message: DataPlaneMessage): void {
    if (!this.#isOver) this.#stream.write(lineOf(message))
  }

  close(): void {
    this.#end('closed')
  }

  #listen(): void {
    const reader = new LineReader(CONTROLLER_LINE_LIMIT, (line) => this.#take(line))
    let refusal = ''
    this.#stream.on('response', ({ ':status': status }) => {
      if (status !== 200) refusal = `it answers with status ${status}: `
    })
    this.#stream.on('data', (bytes: Buffer) => {
      if (refusal !== '') return void (refusal = (refusal + bytes.toString('utf8').trim()).slice(0, 200))
      this.#quietTicks = 0
      try {
        reader.push(bytes)
      } catch (error) {
        this.#end(describe(error))
      }
    })
    this.#stream.on('error', (error) => this.#end(refusal || describe(error)))
    this.#stream.on('end', () => this.#end(refusal || 'it ended the stream'))
    this.#stream.on('close', () => this.#end(refusal || 'the stream is closed'))
  }

  #take(line: string): void {
    if (this.#isOver) return
    const message = readControllerLine(line)
    if (message.type === 'ping') this.send({ type: 'pong' })
    this.#options.received(message)
    if (message.type === 'goodbye') this.#end(`the controller closed the stream: ${message.reason}`)
  }

  #tick(): void {
    this.#quietTicks++
    if (this.#quietTicks > TICKS) this.#end('it has been silent for too long')
  }

  #end(cause: string): void {
    if (this.#isOver) return
    this.#isOver = true
    clearInterval(this.#watch)
    this.#session.destroy()
    this.#options.ended(cause)
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Large enough for a config with thousands of routes. */
const WINDOW = 1024 * 1024
const TICKS = 6
