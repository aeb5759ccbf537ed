import { connect, type Socket } from 'node:net'

const REQUEST = 'GET /items/1?page=2 HTTP/1.1\r\nhost: shop.example\r\nuser-agent: soak\r\naccept: */*\r\n\r\n'
/** One of this many requests is aborted before its response. */
const LEFT_OF = 200

/** Clients with one connection each that send one request after the other and abort some before the response. */
export class Crowd {
  /** Requests that were sent. */
  asked = 0
  /** Number of responses by status; 0 stands for aborted requests. */
  readonly answers = new Map<number, number>()
  readonly #port: number
  readonly #clients: Client[]

  constructor(port: number, size: number) {
    this.#port = port
    this.#clients = Array.from({ length: size }, () => new Client(port))
  }

  /** Until all of them together have asked that often, or the time is over. */
  async ask(count: number, milliseconds: number): Promise<void> {
    const [last, end] = [this.asked + count, performance.now() + milliseconds]
    const lane = async (client: Client): Promise<void> => {
      while (this.asked < last && performance.now() < end) {
        const leaves = ++this.asked % LEFT_OF === 0
        const status = leaves ? await leave(this.#port) : await client.get()
        this.answers.set(status, (this.answers.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(this.#clients.map(lane))
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }
}

/** Answers have a length; that is all there is to know to tell them apart. */
class Client {
  readonly #port: number
  #socket: Socket | null = null
  #received = ''
  #answered: (status: number) => void = () => {}
  #failed: (error: Error) => void = () => {}

  constructor(port: number) {
    this.#port = port
  }

  get(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve
      this.#failed = reject
      this.#socket ??= this.#open()
      this.#socket.write(REQUEST)
    })
  }

  close(): void {
    this.#socket?.destroy()
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    socket.on('error', (error) => this.#failed(error))
    socket.on('close', () => {
      this.#socket = null
      this.#failed(new Error('the gateway closed a connection in use'))
    })
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.#received += text
      const headEnd = this.#received.indexOf('\r\n\r\n')
      if (headEnd === -1) return
      const length = Number(/content-length: *(\d+)/i.exec(this.#received)?.[1])
      if (this.#received.length < headEnd + 4 + length) return
      const status = Number(this.#received.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
      this.#received = ''
      this.#answered(status)
    })
    return socket
  }
}

/** Sends a request on a connection of its own, and is gone. */
function leave(port: number): Promise<0> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => socket.destroy())
    socket.on('close', () => resolve(0))
    socket.write(REQUEST, () => socket.destroy())
  })
}
