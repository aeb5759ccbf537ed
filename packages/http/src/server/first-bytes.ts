import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { Deadline, type Deadlines } from '../runtime/deadlines.ts'
import type { SocketReader } from '../socket/socket-reader.ts'

/** 'more' waits for more bytes; 'done' means that the callback has taken over socket and bytes. */
type FirstBytesVerdict = 'more' | 'done' | 'destroy'

/**
 * Collects the first bytes of a connection without switching the socket to flowing mode, so that the next owner (a TLS
 * or HTTP/2 session) loses nothing.
 */
export function readFirstBytes(
  socket: Socket,
  deadlines: Deadlines,
  timeoutMs: number,
  judge: (bytes: Buffer) => FirstBytesVerdict,
): void {
  new FirstBytes(socket, deadlines, judge).start(timeoutMs)
}

class FirstBytes {
  readonly #socket: Socket
  readonly #deadlines: Deadlines
  readonly #judge: (bytes: Buffer) => FirstBytesVerdict
  readonly #destroy = (): void => void this.#socket.destroy()
  readonly #deadline = new Deadline(this.#destroy)
  #received: Buffer | null = null

  constructor(socket: Socket, deadlines: Deadlines, judge: (bytes: Buffer) => FirstBytesVerdict) {
    this.#socket = socket
    this.#deadlines = deadlines
    this.#judge = judge
  }

  /** The timeout covers all bytes, even if they trickle in. */
  start(timeoutMs: number): void {
    this.#deadlines.set(this.#deadline, timeoutMs)
    this.#listen()
  }

  #listen(): void {
    this.#socket.on('readable', this.#read)
    this.#socket.on('end', this.#destroy)
    this.#socket.on('close', this.#stop)
  }

  readonly #stop = (): void => {
    this.#deadlines.clear(this.#deadline)
    this.#unlisten()
  }

  #unlisten(): void {
    this.#socket.off('readable', this.#read)
    this.#socket.off('end', this.#destroy)
    this.#socket.off('close', this.#stop)
  }

  readonly #read = (): void => {
    const chunk = this.#socket.read() as Buffer | null
    if (chunk === null) return
    this.#received = this.#received === null ? chunk : Buffer.concat([this.#received, chunk])
    // The next owner of the socket must find no listeners on it.
    this.#unlisten()
    const verdict = this.#judge(this.#received)
    if (verdict === 'more') return this.#listen()
    this.#deadlines.clear(this.#deadline)
    if (verdict === 'destroy') this.#socket.destroy()
  }
}

/**
 * Detects HTTP/2 with prior knowledge by its preface, which is not an HTTP/1 request. `found` takes over socket and
 * bytes.
 */
export function detectHttp(
  socket: Duplex,
  reader: SocketReader,
  options: {
    deadlines: Deadlines
    /** Milliseconds until the first byte. */
    idleTimeoutMs: number
    /** Milliseconds from the first byte on. */
    headTimeoutMs: number
  },
  found: (version: 1 | 2, bytes: Buffer) => void,
): void {
  const { deadlines } = options
  let first: Buffer | null = null
  const deadline = new Deadline(() => socket.destroy())
  const stop = (): void => {
    deadlines.clear(deadline)
    reader.release()
    socket.off('end', onEnd)
    socket.off('close', stop)
  }
  const onEnd = (): void => {
    socket.destroy()
  }
  deadlines.set(deadline, options.idleTimeoutMs)
  socket.on('end', onEnd)
  socket.on('close', stop)
  reader.start((chunk) => {
    const bytes = first === null ? chunk : Buffer.concat([first, chunk])
    const compared = Math.min(bytes.length, PREFACE.length)
    const isPreface = bytes.compare(PREFACE, 0, compared, 0, compared) === 0
    if (isPreface && compared < PREFACE.length) {
      if (first === null) deadlines.set(deadline, options.headTimeoutMs)
      first = bytes
      return
    }
    stop()
    found(isPreface ? 2 : 1, bytes)
  })
  socket.resume()
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
