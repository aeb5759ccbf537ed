import { connect, type Socket } from 'node:net'

/** One connection that asks one thing after the other: as little as can be between a question and its answer. */
export class KeptConnection {
  readonly #socket: Socket
  #received = ''
  #waiting: { resolve: (body: string) => void; reject: (error: Error) => void } | null = null

  constructor(host: string, port: number) {
    this.#socket = connect({ host, port, noDelay: true })
    this.#socket.setEncoding('latin1').on('data', (text: string) => this.#take(text))
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  /** The body of the answer. */
  ask(host: string, path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`)
    })
  }

  close(): void {
    this.#waiting = null
    this.#socket.destroy()
  }

  #take(text: string): void {
    this.#received += text
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1] ?? 0)
    if (this.#received.length < end + 4 + length) return
    const body = this.#received.slice(end + 4, end + 4 + length)
    this.#received = this.#received.slice(end + 4 + length)
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve(body)
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error)
    this.#waiting = null
  }
}
