import { connect, type Socket } from 'node:net'
import { parseResponse, type RawResponse } from './client.ts'

/** One connection that asks for one thing after the other; an end that the server did not announce is a failure. */
export class KeepAliveClient {
  readonly #connect: () => Socket
  #socket: Socket | null = null
  #waiting: { resolve: (response: RawResponse) => void; reject: (error: Error) => void } | null = null
  #received = ''

  /** `open` opens a connection where plain TCP will not do. */
  constructor(port: number, host = '127.0.0.1', open = () => connect({ port, host, noDelay: true })) {
    this.#connect = open
  }

  get isOpen(): boolean {
    return this.#socket !== null
  }

  /** The reply must have a content-length. */
  get(path: string): Promise<RawResponse> {
    return this.#send(`GET ${path} HTTP/1.1\r\nhost: test.example\r\n\r\n`)
  }

  post(path: string, body: string): Promise<RawResponse> {
    const length = Buffer.byteLength(body)
    return this.#send(`POST ${path} HTTP/1.1\r\nhost: test.example\r\ncontent-length: ${length}\r\n\r\n${body}`)
  }

  #send(message: string): Promise<RawResponse> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket ??= this.#open()
      this.#socket.write(message)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  #open(): Socket {
    this.#received = ''
    const socket = this.#connect()
    const gone = (error: Error) => {
      socket.destroy()
      if (this.#socket !== socket) return
      this.#socket = null
      this.#settle()?.reject(error)
    }
    socket.on('error', gone)
    socket.on('close', () => gone(new Error(`connection closed after ${JSON.stringify(this.#received)}`)))
    socket.on('end', () => gone(new Error(`connection ended after ${JSON.stringify(this.#received)}`)))
    socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1')
      const headEnd = this.#received.indexOf('\r\n\r\n')
      if (headEnd === -1) return
      const response = parseResponse(this.#received)
      if (response.body.length < Number(response.headers['content-length'])) return
      this.#received = ''
      const isLast = response.headers['connection'] === 'close'
      if (isLast) this.#socket = null
      this.#settle()?.resolve(response)
    })
    return socket
  }

  #settle() {
    const waiting = this.#waiting
    this.#waiting = null
    return waiting
  }
}
