import { connect, type NetConnectOpts, Socket } from 'node:net'
import { reportFault } from '../telemetry/faults.ts'
import { spentBuffers } from './spent-buffers.ts'

/** Where the bytes of a socket go: to a receiver, or, after `release`, into the socket's own stream. */
export interface SocketReader {
  start(receive: (chunk: Buffer) => void, glance?: Glance): void
  release(): void
}

/**
 * Asked first where bytes came into a buffer that the next read overwrites: true when it took all of them as they lie
 * there, so that they need no buffer of their own.
 */
export type Glance = (bytes: Buffer, length: number) => boolean

/** Reads by 'data' events: what every socket can do. */
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
    try {
      this.#receive?.(chunk)
    } catch (error) {
      breakOff(this.#socket, error)
    }
  }
}

/**
 * Reads through one buffer that all sockets of the thread share, and copies what came: a block of 64 KiB per read,
 * which the stream would allocate, costs more than everything else done with a small message.
 */
export class SharedBufferReader implements SocketReader {
  #socket: Socket | null = null
  #receive: ((chunk: Buffer) => void) | null = null
  #glance: Glance | null = null

  /** The `onread` option of the socket to be made. */
  readonly onread = {
    buffer: SHARED,
    callback: (length: number): boolean => {
      try {
        if (this.#glance !== null && this.#glance(SHARED, length)) return true
        const chunk = Buffer.allocUnsafe(length)
        SHARED.copy(chunk, 0, 0, length)
        spentBuffers.count(length)
        if (this.#receive === null) return this.#socket?.push(chunk) ?? false
        this.#receive(chunk)
      } catch (error) {
        breakOff(this.#socket, error)
      }
      return true
    },
  }

  /** Null when the socket has no place for it, or bytes in its stream that were to come first. */
  static installedOn(socket: Socket): SharedBufferReader | null {
    const { _handle: handle } = socket as Socket & { _handle?: { useUserBuffer?(buffer: Buffer): void } | null }
    const places = placesOf(socket)
    if (places === null || handle?.useUserBuffer === undefined || socket.readableLength > 0) return null
    const reader = new SharedBufferReader()
    Object.assign(socket, { [places.buffer]: SHARED, [places.callback]: reader.onread.callback })
    handle.useUserBuffer(SHARED)
    socket.resume()
    return reader.attach(socket)
  }

  attach(socket: Socket): this {
    this.#socket = socket
    return this
  }

  start(receive: (chunk: Buffer) => void, glance: Glance | null = null): void {
    this.#receive = receive
    this.#glance = glance
  }

  release(): void {
    this.#receive = null
    this.#glance = null
  }
}

/** A receiver has thrown: nobody knows how much of the input it took, so the connection ends. */
function breakOff(socket: Socket | null, error: unknown): void {
  socket?.destroy()
  reportFault(error, 'connection')
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

/** How to read a socket of which nothing has been read yet, apart from its handshake. */
export function readerOf(socket: Socket): SocketReader {
  return ('encrypted' in socket ? SharedBufferReader.installedOn(socket) : null) ?? new StreamReader(socket)
}

/**
 * Where a socket keeps the buffer it reads into and whom it tells. A TLS socket takes no option for it when it is made
 * of another socket, so what the option would do is done afterwards; null where the runtime has changed its ways.
 */
function placesOf(socket: Socket): { buffer: symbol; callback: symbol } | null {
  const symbols = Object.getOwnPropertySymbols(socket)
  const buffer = symbols.find(({ description }) => description === 'kBuffer')
  const callback = symbols.find(({ description }) => description === 'kBufferCb')
  return buffer === undefined || callback === undefined ? null : { buffer, callback }
}

/** Large enough that a big body takes few reads. */
const SHARED = Buffer.allocUnsafeSlow(262_144)
