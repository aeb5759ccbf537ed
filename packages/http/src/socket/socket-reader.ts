import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect, type NetConnectOpts, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { reportFault } from '../runtime/faults.ts'

/** Passes the bytes of a socket to a receiver or, after `release`, into the socket's own stream. */
export interface SocketReader {
  start(receive: (chunk: Buffer) => void, glance?: Glance): void
  release(): void
}

/**
 * Called first with bytes in a buffer that the next read overwrites. Returns true when it consumed all of them in
 * place, so that they need not be copied.
 */
type Glance = (bytes: Buffer, length: number) => boolean

/** Reads by 'data' events, which every socket supports. */
export class StreamReader implements SocketReader {
  readonly #socket: Duplex
  #receive: ((chunk: Buffer) => void) | null = null

  constructor(socket: Duplex) {
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
 * Reads through one buffer that all sockets of the thread share, and copies the received bytes. The stream would
 * allocate a block of 64 KiB per read, which costs more than all other processing of a small message.
 */
export class SharedBufferReader implements SocketReader {
  #socket: Socket | null = null
  #receive: ((chunk: Buffer) => void) | null = null
  #glance: Glance | null = null

  /** The `onread` option for creating the socket. */
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

  /** Returns null when the socket does not support it, or has unread bytes in its stream that must come first. */
  static installedOn(socket: Socket): SharedBufferReader | null {
    const { _handle: handle } = socket as Socket & { _handle?: { useUserBuffer?(buffer: Buffer): void } | null }
    const keys = readBufferKeys(socket)
    if (keys === null || handle?.useUserBuffer === undefined || socket.readableLength > 0) return null
    const reader = new SharedBufferReader()
    Object.assign(socket, { [keys.buffer]: SHARED, [keys.callback]: reader.onread.callback })
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

/** Closes the connection after a receiver has thrown, because the consumed part of the input is unknown. */
function breakOff(socket: Duplex | null, error: unknown): void {
  socket?.destroy()
  reportFault(error, 'connection')
}

/** Opens a connection to a TCP address or a socket file that is read through the shared buffer. */
export function connectShared(options: NetConnectOpts): { socket: Socket; reader: SocketReader } {
  const reader = new SharedBufferReader()
  const socket = connect({ ...options, onread: reader.onread })
  return { socket, reader: reader.attach(socket) }
}

/**
 * Gives a connection that was just accepted (with `pauseOnConnect`) a socket that is read through the shared buffer.
 * The documented option exists only for client sockets, so the handle is moved to a new socket; without a handle, the
 * socket stays as it is.
 */
export function adoptShared(accepted: Socket): { socket: Socket; reader: SocketReader } {
  const holder = accepted as Socket & { _handle?: object | null }
  const handle = holder._handle ?? null
  if (handle === null) return { socket: accepted, reader: new StreamReader(accepted) }
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
  // The empty socket still counts as a connection of the server until it is closed.
  accepted.destroy()
  return { socket, reader: reader.attach(socket) }
}

/** Returns a reader for a socket from which nothing has been read, apart from its handshake. */
export function readerOf(socket: Duplex): SocketReader {
  return (
    (socket instanceof Socket && 'encrypted' in socket ? SharedBufferReader.installedOn(socket) : null) ??
    new StreamReader(socket)
  )
}

/**
 * Returns the symbols under which a socket stores its read buffer and callback. A TLS socket on top of another socket
 * does not accept the option, so its effect is applied afterwards; null when the runtime's internals have changed.
 */
function readBufferKeys(socket: Socket): { buffer: symbol; callback: symbol } | null {
  const symbols = Object.getOwnPropertySymbols(socket)
  const buffer = symbols.find(({ description }) => description === 'kBuffer')
  const callback = symbols.find(({ description }) => description === 'kBufferCb')
  return buffer === undefined || callback === undefined ? null : { buffer, callback }
}

/** Large enough that a big body takes few reads. */
const SHARED = Buffer.allocUnsafeSlow(262_144)

/**
 * Buffers of large reads are outside the heap and become garbage a moment later. By default, the runtime collects its
 * whole heap after some 30 MB of them, again and again, which is half of the CPU cost of a large body. The buffers are
 * young, so a collection of the young generation frees them at a small part of that cost.
 */
class SpentBuffers {
  #bytes = 0
  /** Created on first use. */
  #collect: Collect | undefined

  /** Called for every buffer that a read has filled. */
  count(bytes: number): void {
    if (bytes < WORTH_COUNTING) return
    this.#bytes += bytes
    if (this.#bytes < EACH_BYTES) return
    this.#bytes = 0
    this.#collect ??= findCollector()
    this.#collect?.({ type: 'minor' })
  }
}

type Collect = (options: { type: 'minor' }) => void

/**
 * Returns the collector. A context created after the flag was set has the function, whatever flags the program was
 * started with. Undefined when the runtime has none, or another thread reset the flag at that moment.
 */
function findCollector(): Collect | undefined {
  setFlagsFromString('--expose-gc')
  try {
    return runInNewContext('globalThis.gc') as Collect | undefined
  } finally {
    setFlagsFromString('--no-expose-gc')
  }
}

/** Smaller buffers come from a pool, or are soon followed by a collection anyway. */
const WORTH_COUNTING = 8192
/** Bytes between collections: well below the amount that makes the runtime collect its whole heap. */
const EACH_BYTES = 8_000_000

/** The instance of this thread. */
export const spentBuffers = new SpentBuffers()
