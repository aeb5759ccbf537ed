import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

interface UdpServer {
  port: number
  host: string
  /** The datagrams that arrived, as text. */
  received: string[]
  /** The sources that they came from. */
  sources: Set<string>
  socket: Socket
  close(): Promise<void>
}

type Respond = (datagram: Buffer, reply: (datagram: Buffer | string) => void, source: RemoteInfo) => void

/** A server that answers every datagram by `respond`; it echoes when that is left out. */
export async function useUdpServer(
  t: TestContext,
  respond: Respond = (datagram, reply) => reply(datagram),
  { address = '127.0.0.1', port = 0 }: { address?: string; port?: number } = {},
): Promise<UdpServer> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  const received: string[] = []
  const sources = new Set<string>()
  socket.on('error', () => {})
  socket.on('message', (datagram, source) => {
    received.push(datagram.toString())
    sources.add(`${source.address}:${source.port}`)
    respond(datagram, (reply) => socket.send(reply, source.port, source.address), source)
  })
  socket.bind(port, address)
  await once(socket, 'listening')
  let isOpen = true
  const close = async (): Promise<void> => {
    if (!isOpen) return
    isOpen = false
    socket.close()
    await once(socket, 'close')
  }
  t.after(close)
  const own = socket.address().port
  const host = address.includes(':') ? `[${address}]:${own}` : `${address}:${own}`
  return { port: own, host, received, sources, socket, close }
}

/** A client with one source port, connected to a port of the gateway. */
export class UdpClient {
  readonly #socket: Socket
  readonly #replies: Buffer[] = []
  readonly #waiting: ((reply: Buffer) => void)[] = []

  static async open(t: TestContext, port: number, from = '127.0.0.1', to = '127.0.0.1'): Promise<UdpClient> {
    const socket = createSocket(to.includes(':') ? 'udp6' : 'udp4')
    socket.on('error', () => {})
    t.after(() => socket.close())
    socket.bind(0, from)
    await once(socket, 'listening')
    socket.connect(port, to)
    await once(socket, 'connect')
    return new UdpClient(socket)
  }

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('message', (reply) => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#replies.push(reply)
      else next(reply)
    })
  }

  get source(): string {
    const { address, port } = this.#socket.address()
    return `${address}:${port}`
  }

  send(datagram: string | Buffer): void {
    this.#socket.send(datagram)
  }

  /** Replies that nobody has taken. */
  get pending(): number {
    return this.#replies.length
  }

  next(): Promise<Buffer> {
    const reply = this.#replies.shift()
    if (reply !== undefined) return Promise.resolve(reply)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  async ask(datagram: string | Buffer): Promise<string> {
    this.send(datagram)
    return (await this.next()).toString()
  }
}

/** A port of loopback without a UDP server: the kernel refuses its datagrams. */
export async function closedUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  await once(socket, 'close')
  return port
}
