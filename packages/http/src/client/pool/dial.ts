import { connect as connectTcp, type NetConnectOpts, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import type { RawStream } from '../../exchange/exchange.ts'
import type { HopTrail } from '../../fields/hops.ts'
import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'
import { reportFault } from '../../runtime/faults.ts'
import { connectShared, type SocketReader } from '../../socket/socket-reader.ts'
import { type ConnectDone, type EndpointWatcher, UpstreamError } from '../upstream-types.ts'
import { formatHostPort } from '../host-port.ts'

/** A proxy that connections to a backend go through. */
export interface Tunnel {
  /** Name of the proxy in errors. */
  readonly name: string
  /** Tunnels with equal keys are interchangeable. */
  readonly key: string
  /** Whether targets must be IP addresses; otherwise the proxy resolves names. */
  readonly takesAddresses: boolean
  /** Opens a connection through the proxy to `target`, a `host:port`; returns a function that cancels. */
  open(target: string, trail: HopTrail | undefined, done: ConnectDone): () => void
}

/** Everything that distinguishes one connection from another. */
export interface DialOptions {
  address: { host: string; port: number } | { path: string }
  /** Null connects directly to the address. */
  tunnel: Tunnel | null
  tls: ConnectionOptions | null
  connectTimeoutMs: number
  keepalive: { retries: number; timeMs: number; intervalMs: number } | null
  /** Watcher of the call that needs the connection; it is notified of tunnels. */
  watcher?: EndpointWatcher
  /** Hops of the call that needs the connection; the proxy of a tunnel gets them too. */
  trail?: HopTrail
}

/** A connection and, when it was already chosen while connecting, its reader. */
interface OpenConnection {
  socket: RawStream
  reader?: SocketReader
}

/** Opens one connection; returns a function that cancels. */
export type Dial = (options: DialOptions, deadlines: Deadlines, done: DialCallback) => () => void

type DialCallback = (outcome: OpenConnection | UpstreamError) => void

/** Opens one connection. The connect timeout covers TCP, the tunnel, TLS and ALPN together. */
export const dial: Dial = (options, deadlines, done) => {
  const { tunnel } = options
  let settled = false
  let giveUp = (): void => {}
  const settle: DialCallback = (outcome) => {
    if (settled) return
    settled = true
    deadlines.clear(deadline)
    if (outcome instanceof UpstreamError) giveUp()
    try {
      done(outcome)
    } catch (error) {
      if (!(outcome instanceof UpstreamError)) outcome.socket.destroy()
      reportFault(error, 'request')
    }
  }
  const where = tunnel === null ? '' : `tunnel through ${tunnel.name}: `
  const deadline = new Deadline(() => settle(new UpstreamError('connect_timeout', `${where}connect timed out`, true)))
  deadlines.set(deadline, options.connectTimeoutMs)
  giveUp = tunnel === null ? connectStraight(options, settle) : connectThrough(tunnel, options, settle)
  return () => settle(new UpstreamError('connect_failed', 'cancelled', true))
}

function connectStraight(options: DialOptions, done: DialCallback): () => void {
  if (options.tls !== null) {
    const plain = connectTcp(connectOptions(options))
    keepAlive(plain, options)
    return secure(plain, options.tls, done)
  }
  const connected = connectShared(connectOptions(options))
  keepAlive(connected.socket, options)
  return whenReady(connected, 'connect', done)
}

function connectThrough(tunnel: Tunnel, { address, tls, watcher, trail }: DialOptions, done: DialCallback): () => void {
  const target = hostPortOf(address)
  const ended = watcher?.tunnelling?.(target, tunnel.name)
  let giveUp = tunnel.open(target, trail, (outcome) => {
    ended?.(outcome instanceof UpstreamError ? outcome : null)
    if (outcome instanceof UpstreamError) return done(outcome)
    if (tls !== null) giveUp = secure(outcome, tls, done)
    else done({ socket: outcome })
  })
  return () => giveUp()
}

function secure(plain: RawStream, tls: ConnectionOptions, done: DialCallback): () => void {
  const socket: TLSSocket = connectTls({ ...tls, socket: plain, allowHalfOpen: true } as ConnectionOptions)
  plain.on('error', (error) => socket.destroy(error))
  return whenReady({ socket }, 'secureConnect', done)
}

function whenReady(connected: OpenConnection, event: 'connect' | 'secureConnect', done: DialCallback): () => void {
  const { socket } = connected
  const stop = (): void => {
    socket.off('error', onError)
    socket.off('close', onClose)
    socket.off(event, onReady)
  }
  const fail = (error: UpstreamError): void => {
    giveUp()
    done(error)
  }
  const giveUp = (): void => {
    stop()
    socket.on('error', () => {})
    socket.destroy()
  }
  const onError = (error: NodeJS.ErrnoException): void => fail(dialError(error, event === 'secureConnect'))
  const onClose = (): void => fail(new UpstreamError('connect_failed', 'connection closed during the handshake', true))
  const onReady = (): void => {
    stop()
    done(connected)
  }
  socket.on('error', onError)
  socket.on('close', onClose)
  socket.on(event, onReady)
  return giveUp
}

function connectOptions(options: DialOptions): NetConnectOpts & { noDelay: boolean } {
  return { ...options.address, noDelay: true, allowHalfOpen: true }
}

function keepAlive(socket: Socket, { keepalive }: DialOptions): void {
  if (keepalive !== null) socket.setKeepAlive(true, keepalive.timeMs, keepalive.intervalMs, keepalive.retries)
}

function hostPortOf(address: DialOptions['address']): string {
  // Socket files are local: the config loader rejects a socket file behind a proxy.
  if ('path' in address) throw new Error('a socket file cannot be reached through a tunnel')
  return formatHostPort(address.host, address.port)
}

function dialError(error: NodeJS.ErrnoException, overTls: boolean): UpstreamError {
  // Errors of the TLS library and of certificate checks have codes of their own; errors of system calls have `syscall`.
  const isTls = overTls && error.syscall === undefined
  const reason = error.code ?? error.message
  return new UpstreamError(isTls ? 'tls_failed' : 'connect_failed', reason, true)
}
