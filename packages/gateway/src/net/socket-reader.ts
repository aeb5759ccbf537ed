import { connect, type NetConnectOpts, Socket } from 'node:net'
import { spentBuffers } from './spent-buffers.ts'

/** Where the bytes of a socket go: to a receiver, or, after `release`, into the socket's own stream. */
export interface SocketReader {
  start(receive: (chunk: Buffer) => void): void
  release(): void
}

/** Reads by 'data' events: what TLS sockets and everything else that is no bare TCP socket can do. */
export class StreamReader implements SocketReader {
  readonly #socket: Socket
  #receive: ((chunk: Buffer) => void) | null = null

  constructor(socket: Socket) {
    this.#socket = socket
  }

  start(receive: (chunk: Buffer) => void): void {
    this.#receive = receive
    this.#socket.on('data', this.#onData)
  }

  release(): void {
    this.#socket.off('data', this.#onData)
  }

  readonly #onData = (chunk: Buffer): void => {
    spentBuffers.count(chunk.length)
    this.#receive?.(chunk)
  }
}

/**
 * Reads through one buffer that all sockets of the thread share, and copies what came: a block of 64 KiB per read,
 * which the stream would allocate, costs more than everything else done with a small message.
 */
export class SharedBufferReader implements SocketReader {
  #socket: Socket | null = null
  #receive: ((chunk: Buffer) => void) | null = null

  /** The `onread` option of the socket to be made. */
  readonly onread = {
    buffer: SHARED,
    callback: (length: number): boolean => {
      const chunk = Buffer.allocUnsafe(length)
      SHARED.copy(chunk, 0, 0, length)
      spentBuffers.count(length)
      if (this.#receive === null) return this.#socket?.push(chunk) ?? false
      this.#receive(chunk)
      return true
    },
  }

  attach(socket: Socket): this {
    this.#socket = socket
    return this
  }

  start(receive: (chunk: Buffer) => void): void {
    this.#receive = receive
  }

  release(): void {
    this.#receive = null
  }
}

/** Opens a TCP connection or a socket file that is read through the shared buffer. */
export function connectShared(options: NetConnectOpts): { socket: Socket; reader: SocketReader } {
  const reader = new SharedBufferReader()
  const socket = connect({ ...options, onread: reader.onread })
  return { socket, reader: reader.attach(socket) }
}

/**
 * Gives a connection just accepted (with `pauseOnConnect`) a socket that is read through the shared buffer. Only
 * client sockets can ask for this by a documented option, so the handle is moved; where there is none to move, the
 * socket stays as it is.
 */
export function adoptShared(accepted: Socket): { socket: Socket; reader: SocketReader } {
  const holder = accepted as Socket & { _handle?: object | null }
  const handle = holder._handle
  if (handle === undefined || handle === null) return { socket: accepted, reader: new StreamReader(accepted) }
  holder._handle = null
  const reader = new SharedBufferReader()
  const options = {
    handle,
    allowHalfOpen: true,
    pauseOnCreate: true,
    readable: true,
    writable: true,
    onread: reader.onread,
  }
  const socket = new Socket(options as ConstructorParameters<typeof Socket>[0])
  // The empty shell still counts as a connection of the server until it is closed.
  accepted.destroy()
  return { socket, reader: reader.attach(socket) }
}

/** Large enough that a big body takes few reads. */
const SHARED = Buffer.allocUnsafeSlow(262_144)
