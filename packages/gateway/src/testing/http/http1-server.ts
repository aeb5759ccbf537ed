import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type ConnectionInfo, Deadlines, type Exchange, type ExchangeHandler, HeaderBlock } from '@portico/http'
import { Http1ServerConnection, type Http1ServerOptions } from '../../../../http/src/server/http1/server-connection.ts'

interface TestServer {
  port: number
  /** `<status> <code>` of everything refused. */
  refused: string[]
  connections: Set<Http1ServerConnection>
  [Symbol.asyncDispose](): Promise<void>
}

/** Our HTTP/1 server connection on a loopback port, with the given handler. */
export async function startHttp1Server(
  handler: ExchangeHandler,
  options: Partial<Http1ServerOptions> = {},
): Promise<TestServer> {
  const refused: string[] = []
  const connections = new Set<Http1ServerConnection>()
  const sockets = new Set<Socket>()
  const deadlines = options.deadlines ?? new Deadlines()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket)
    if (!server.listening) return void socket.destroy()
    const connection = new Http1ServerConnection(socket, infoOf(socket), {
      handler,
      deadlines,
      maxHeaders: 100,
      idleTimeoutMs: 60_000,
      maxDurationMs: 0,
      onRefused: (_info, status, code) => refused.push(`${status} ${code}`),
      onClosed: (closed) => connections.delete(closed),
      ...options,
    })
    connections.add(connection)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    refused,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
      deadlines.close()
    },
  }
}

/** A client that speaks bytes. Text is latin1. */
export class RawClient {
  readonly socket: Socket
  received = ''
  ended = false
  closed = false
  error: Error | null = null

  #changed: (() => void) | null = null

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
    const note = (event: string, change: (value: Buffer & Error) => void): void => {
      this.socket.on(event, (value: Buffer & Error) => {
        change(value)
        this.#changed?.()
      })
    }
    note('data', (chunk) => (this.received += chunk.toString('latin1')))
    note('end', () => (this.ended = true))
    note('close', () => (this.closed = true))
    note('error', (error) => (this.error = error))
  }

  send(text: string | Buffer): void {
    if (typeof text === 'string') this.socket.write(text, 'latin1')
    else this.socket.write(text)
  }

  /** Waits until what was received contains the text (or fits the pattern). */
  async until(wanted: string | RegExp): Promise<string> {
    const found = (): boolean =>
      typeof wanted === 'string' ? this.received.includes(wanted) : wanted.test(this.received)
    while (!found()) {
      if (this.ended || this.closed)
        throw new Error(`connection ended with ${JSON.stringify(this.received.slice(-500))}`)
      await this.#change()
    }
    return this.received
  }

  /** Everything up to the end of the connection. */
  async all(): Promise<string> {
    while (!this.ended && !this.closed) await this.#change()
    return this.received
  }

  #change(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`nothing after ${JSON.stringify(this.received.slice(-500))}`)),
        10_000,
      )
      this.#changed = () => {
        clearTimeout(timer)
        this.#changed = null
        resolve()
      }
    })
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }
}

/** Waits for a condition that no event tells of. */
export async function eventually(condition: () => boolean, what: string): Promise<void> {
  const limit = performance.now() + 10_000
  while (!condition()) {
    if (performance.now() > limit) throw new Error(`never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Reads the whole body, then answers 200 with a description of the request. */
export function describeRequest(exchange: Exchange): void {
  let body = ''
  exchange.body.pipe({
    source: null,
    write: (chunk) => (body += chunk.toString('latin1')),
    flush: () => true,
    end(trailers) {
      const { method, authority, target, upgrade, headers } = exchange
      const lines = [
        `${method} ${authority} ${target} ${upgrade}`.trim(),
        headers.toText(),
        body,
        trailers?.toText() ?? '',
      ]
      answer(exchange, 200, lines.join('|'))
    },
    abort: () => {},
  })
}

export function answer(exchange: Exchange, status: number, text: string): void {
  const sink = exchange.respond(status, new HeaderBlock(), text.length)
  sink.write(Buffer.from(text, 'latin1'))
  sink.end(null)
}

function infoOf(socket: Socket): ConnectionInfo {
  const { remoteAddress: address = '', remotePort: port = 0 } = socket
  const ends = { destination: () => ({ address: '127.0.0.1', port: socket.localPort ?? 0 }), principal: () => '' }
  const source = `${address}:${port}`
  return { address, port, rawAddress: address, rawPort: port, scheme: 'http', sni: '', handshake: '', source, ...ends }
}
