import { connect as connectTcp, type Socket, type NetConnectOpts } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { Deadline, type Deadlines } from '../net/deadlines.ts'
import { connectShared, type SocketReader, StreamReader } from '../net/socket-reader.ts'
import { UpstreamError } from './contract.ts'

/** Where and how to connect: everything that distinguishes one connection from another. */
export interface DialOptions {
  address: { host: string; port: number } | { path: string }
  tls: ConnectionOptions | null
  connectTimeoutMs: number
  keepalive: { retries: number; timeMs: number; intervalMs: number } | null
}

/** A connection and the way to read from it. */
export interface Connected {
  socket: Socket
  reader: SocketReader
}

/** Opens one connection; TCP, TLS and its negotiation together have the connect timeout. */
export function dial(
  options: DialOptions,
  deadlines: Deadlines,
  done: (error: UpstreamError | null, connected: Connected | null) => void,
): () => void {
  const connected = options.tls === null ? open(options) : openTls(options, options.tls)
  const { socket } = connected
  let settled = false
  const settle = (error: UpstreamError | null): void => {
    if (settled) return
    settled = true
    deadlines.clear(deadline)
    socket.off('error', onError)
    socket.off('close', onClose)
    if (error === null) done(null, connected)
    else {
      socket.on('error', () => {})
      socket.destroy()
      done(error, null)
    }
  }
  const deadline = new Deadline(() => settle(new UpstreamError('connect_timeout', 'connect timed out', true)))
  const onError = (error: NodeJS.ErrnoException): void => settle(dialError(error, options.tls !== null))
  const onClose = (): void =>
    settle(new UpstreamError('connect_failed', 'connection closed during the handshake', true))
  socket.on('error', onError)
  socket.on('close', onClose)
  socket.once(options.tls === null ? 'connect' : 'secureConnect', () => {
    if (!settled) settle(null)
  })
  deadlines.set(deadline, options.connectTimeoutMs)
  return () => settle(new UpstreamError('connect_failed', 'cancelled', true))
}

function open(options: DialOptions): Connected {
  const connected = connectShared(connectOptions(options))
  keepAlive(connected.socket, options)
  return connected
}

function openTls(options: DialOptions, tls: ConnectionOptions): Connected {
  const plain = connectTcp(connectOptions(options))
  keepAlive(plain, options)
  const socket: TLSSocket = connectTls({ ...tls, socket: plain, allowHalfOpen: true } as ConnectionOptions)
  plain.on('error', (error) => socket.destroy(error))
  return { socket, reader: new StreamReader(socket) }
}

function connectOptions(options: DialOptions): NetConnectOpts & { noDelay: boolean } {
  return { ...options.address, noDelay: true, allowHalfOpen: true }
}

function keepAlive(socket: Socket, { keepalive }: DialOptions): void {
  if (keepalive !== null) socket.setKeepAlive(true, keepalive.timeMs, keepalive.intervalMs, keepalive.retries)
}

function dialError(error: NodeJS.ErrnoException, overTls: boolean): UpstreamError {
  // Errors of the TLS library and of certificate checks have their own codes; system calls carry `syscall`.
  const isTls = overTls && error.syscall === undefined
  const reason = error.code ?? error.message
  return new UpstreamError(isTls ? 'tls_failed' : 'connect_failed', reason, true)
}
