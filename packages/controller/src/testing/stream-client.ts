import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { applyChange, EMPTY_IR, type Ir } from '@portico/gateway/ir'
import { type ControllerMessage, type DataPlaneMessage, endpointPart } from '@portico/gateway/stream'
import { generationOf, type Hello } from '@portico/gateway/stream'
import { LineReader, lineOf, readControllerLine, STREAM_PATH } from '@portico/gateway/stream'

export interface StreamClientOptions {
  port: number
  ca: string
  token?: string | null
  path?: string
  servername?: string
}

/** A scripted data plane that records all messages. */
export class StreamClient {
  readonly messages: ControllerMessage[] = []
  readonly session: ClientHttp2Session
  readonly stream: ClientHttp2Stream
  /** The newest config, built from all changes. */
  ir: Ir = EMPTY_IR
  endpoints: Record<string, readonly string[]> = {}
  /** The status of the response. */
  status: number | undefined
  /** The body of a rejection. */
  text = ''
  isOver = false
  error: string | undefined
  #waiting: (() => void)[] = []

  constructor({ port, ca, token = 'good', path = STREAM_PATH, servername }: StreamClientOptions) {
    this.session = connect(`https://127.0.0.1:${port}`, { ca, ...(servername !== undefined && { servername }) })
    this.session.on('error', (error) => this.#end(error.message))
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` }
    const head = { ':method': 'POST', ':path': path, ...authorization }
    this.stream = this.session.request(head, { endStream: false })
    const reader = new LineReader(1 << 28, (line) => this.#take(readControllerLine(line)))
    this.stream.on('response', (headers) => {
      this.status = headers[':status']
      this.#notify()
    })
    this.stream.on('data', (bytes: Buffer) => {
      if (this.status === 200) reader.push(bytes)
      else this.text += bytes.toString()
    })
    this.stream.on('error', (error) => this.#end(error.message))
    this.stream.on('end', () => this.#end())
    this.stream.on('close', () => this.#end())
  }

  hello(hello: Partial<Hello> = {}): this {
    const usual = { gateway: 'shop/web', instance: 'web-1', version: '1', have: null, endpoints: null }
    return this.send({ type: 'hello', ...usual, ...hello })
  }

  send(message: DataPlaneMessage): this {
    this.stream.write(lineOf(message))
    return this
  }

  /** Acknowledges the newest config. */
  ack(): this {
    return this.send({ type: 'ack', generation: generationOf(this.ir) })
  }

  of<Type extends ControllerMessage['type']>(type: Type): Extract<ControllerMessage, { type: Type }>[] {
    return this.messages.filter(
      (message): message is Extract<ControllerMessage, { type: Type }> => message.type === type,
    )
  }

  /** Resolves when this many messages of the type have arrived. */
  received(type: ControllerMessage['type'], count = 1): Promise<this> {
    return this.until(() => this.of(type).length >= count)
  }

  /** Resolves when the condition holds after an event. */
  async until(isTrue: () => boolean): Promise<this> {
    while (!isTrue()) {
      if (this.isOver) throw new Error(`the stream is over: ${this.error ?? this.status}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this
  }

  async ended(): Promise<this> {
    while (!this.isOver) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    return this
  }

  close(): void {
    this.session.destroy()
  }

  #take(message: ControllerMessage): void {
    this.messages.push(message)
    if (message.type === 'ping') this.send({ type: 'pong' })
    if (message.type === 'config') this.ir = applyChange(this.ir, message.change).ir
    if (message.type === 'endpoints') {
      const put = Object.fromEntries(message.put)
      const parts = message.parts && new Set(message.parts)
      const known = Object.entries(this.endpoints)
      const stays = known.filter(([key]) => !message.whole || parts?.has(endpointPart(key)) === false)
      this.endpoints = Object.fromEntries([...stays, ...Object.entries(put)])
      for (const key of message.drop) delete this.endpoints[key]
    }
    this.#notify()
  }

  #end(error?: string): void {
    this.error ??= error
    this.isOver = true
    this.#notify()
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
