import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createSecureContext, TLSSocket } from 'node:tls'
import {
  ACK,
  DATA,
  END_HEADERS,
  END_STREAM,
  type Frame,
  frame,
  GOAWAY,
  HEADERS,
  literalFields,
  PING,
  RST_STREAM,
  SETTINGS,
} from '../../../../http/src/testing/frame-client.ts'

/** One connection to an HTTP/2 backend that sends exactly the frames a test asks for. */
export class BackendConnection {
  readonly socket: Socket
  /** The TCP connection under `socket`. */
  readonly raw: Socket
  /** Frames of the gateway so far. */
  readonly received: Frame[] = []
  readonly #onRequest: (connection: BackendConnection, stream: number) => void
  #input = Buffer.alloc(0)
  #hasPreface = false

  constructor(socket: Socket, raw: Socket, onRequest: (connection: BackendConnection, stream: number) => void) {
    this.socket = socket
    this.raw = raw
    this.#onRequest = onRequest
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.send(SETTINGS, 0, 0)
  }

  send(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): void {
    if (this.socket.writable) this.socket.write(frame(type, flags, stream, payload))
  }

  head(stream: number, fields: [string, string][] = [], flags: number = END_HEADERS): void {
    this.send(HEADERS, flags, stream, literalFields([[':status', '200'], ...fields]))
  }

  trailers(stream: number, fields: [string, string][]): void {
    this.send(HEADERS, END_HEADERS | END_STREAM, stream, literalFields(fields))
  }

  data(stream: number, text: string, isLast = false): void {
    this.send(DATA, isLast ? END_STREAM : 0, stream, Buffer.from(text))
  }

  reset(stream: number, code: number): void {
    const payload = Buffer.alloc(4)
    payload.writeUInt32BE(code)
    this.send(RST_STREAM, 0, stream, payload)
  }

  goaway(lastStream: number, code: number): void {
    const payload = Buffer.alloc(8)
    payload.writeUInt32BE(lastStream)
    payload.writeUInt32BE(code, 4)
    this.send(GOAWAY, 0, 0, payload)
  }

  #receive(chunk: Buffer): void {
    this.#input = Buffer.concat([this.#input, chunk])
    if (!this.#hasPreface) {
      if (this.#input.length < PREFACE_BYTES) return
      this.#hasPreface = true
      this.#input = this.#input.subarray(PREFACE_BYTES)
    }
    while (this.#input.length >= 9) {
      const size = this.#input.readUIntBE(0, 3)
      if (this.#input.length < 9 + size) return
      const [type, flags] = [this.#input[3] ?? 0, this.#input[4] ?? 0]
      const stream = this.#input.readUInt32BE(5)
      const payload = this.#input.subarray(9, 9 + size)
      this.#input = this.#input.subarray(9 + size)
      if (type === SETTINGS && (flags & ACK) === 0) this.send(SETTINGS, ACK, 0)
      if (type === PING && (flags & ACK) === 0) this.send(PING, ACK, 0, payload)
      this.received.push({ type, flags, stream, payload })
      if (type === HEADERS) this.#onRequest(this, stream)
    }
  }
}

/** An HTTP/2 backend on loopback, over TLS when it has a certificate; `onRequest` is called for each request head. */
export async function useFrameBackend(
  t: TestContext,
  onRequest: (connection: BackendConnection, stream: number) => void,
  certificate: { cert: string; key: string } | null = null,
): Promise<{ port: number; host: string; connections: BackendConnection[] }> {
  const connections: BackendConnection[] = []
  const secureContext = certificate === null ? null : createSecureContext(certificate)
  const server = createServer((raw) => {
    raw.on('error', () => {})
    const socket =
      secureContext === null ? raw : new TLSSocket(raw, { isServer: true, secureContext, ALPNProtocols: ['h2'] })
    connections.push(new BackendConnection(socket, raw, onRequest))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const { socket } of connections) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, host: `127.0.0.1:${port}`, connections }
}

const PREFACE_BYTES = 24
