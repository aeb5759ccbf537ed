import { createSocket, type Socket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { contained } from '../../runtime/faults.ts'
import { literalLookup } from '../../socket/literal-lookup.ts'
import { UpstreamError } from '../upstream-types.ts'

interface DatagramHandler {
  /** The socket can send. */
  opened(): void
  received(datagram: Buffer): void
  /** The socket is closed: the endpoint refused a datagram, or there is no way to it. */
  failed(error: UpstreamError): void
  /** One datagram could not be sent; the socket stays open. */
  dropped(reason: 'too_large' | 'send_failed'): void
}

/** A UDP socket that exchanges datagrams with one endpoint only: the kernel drops those of other senders. */
export class DatagramSocket {
  readonly #socket: Socket
  readonly #handler: DatagramHandler
  #isClosed = false

  /** `host` is an IP address. `failed` is called later, never before the constructor has returned. */
  constructor({ host, port }: { host: string; port: number }, handler: DatagramHandler) {
    this.#handler = handler
    this.#socket = createSocket({ type: isIPv6(host) ? 'udp6' : 'udp4', lookup: literalLookup })
    this.#socket.on('error', (error) => this.#fail(error))
    this.#socket.on('message', (datagram) => {
      if (!this.#isClosed) contained('connection', () => handler.received(datagram))
    })
    this.#socket.once('connect', () => {
      if (!this.#isClosed) contained('connection', () => handler.opened())
    })
    process.nextTick(() => {
      if (this.#isClosed) return
      try {
        this.#socket.connect(port, host)
      } catch (error) {
        this.#fail(error as NodeJS.ErrnoException)
      }
    })
  }

  /** Sends a datagram; the socket must be open. */
  send(datagram: Buffer): void {
    if (!this.#isClosed) this.#socket.send(datagram, this.#onSent)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.close()
  }

  readonly #onSent = (error: NodeJS.ErrnoException | null): void => {
    if (error === null || this.#isClosed) return
    if (error.code === 'EMSGSIZE') this.#handler.dropped('too_large')
    else if (TEMPORARY.has(error.code ?? '')) this.#handler.dropped('send_failed')
    else this.#fail(error)
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (this.#isClosed) return
    this.close()
    const isRefused = error.code === 'ECONNREFUSED'
    const message = isRefused ? 'endpoint refused the datagram' : `datagram not sent: ${error.code ?? error.message}`
    contained('connection', () => this.#handler.failed(new UpstreamError('connect_failed', message, !isRefused)))
  }
}

/** Errors of one datagram: the next one may succeed. */
const TEMPORARY = new Set(['EAGAIN', 'ENOBUFS', 'ENOMEM', 'EPERM'])
