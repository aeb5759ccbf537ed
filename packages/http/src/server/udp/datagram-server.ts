import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { isIPv4 } from 'node:net'
import { plainAddress } from '../../exchange/connection-info.ts'
import type { ConnectionInfo } from '../../exchange/exchange.ts'
import type { Deadlines } from '../../runtime/deadlines.ts'
import { reportFault } from '../../runtime/faults.ts'
import { literalLookup } from '../../socket/literal-lookup.ts'
import type { DatagramObserver, DatagramRefusal, DatagramSession, DatagramState, DropReason } from './datagram-state.ts'
import { SessionTable } from './session-table.ts'
import { type EntryOwner, SourceEntry } from './source-entry.ts'

/** One UDP port of one worker. The kernel sends all datagrams of a source to the same worker. */
export class DatagramServer<Session extends DatagramSession> {
  readonly #deadlines: Deadlines
  readonly #observer: DatagramObserver
  readonly #table = new SessionTable<SourceEntry<Session>>()
  #state: DatagramState<Session>
  #socket: Socket | null = null
  /** The sessions that the port stays open for; null while the port is in use. */
  #remaining: Set<SourceEntry<Session>> | null = null
  #isRetired = false
  readonly #owner: EntryOwner<Session> = {
    touch: (entry) => this.#deadlines.set(entry.idle, this.#idleMs(entry)),
    hold: (entry, milliseconds) => {
      this.#deadlines.clear(entry.idle)
      this.#deadlines.set(entry.idle, milliseconds)
    },
    drop: (reason) => this.#observer.dropped(reason),
    send: (datagram, { address, port }) => {
      this.#observer.sent(datagram.length)
      this.#socket?.send(datagram, port, address, this.#onSent)
    },
    remove: (entry) => this.#remove(entry),
  }

  constructor(state: DatagramState<Session>, deadlines: Deadlines, observer: DatagramObserver = UNOBSERVED) {
    this.#state = state
    this.#deadlines = deadlines
    this.#observer = observer
  }

  listen({ port, host = '', reusePort }: { port: number; host?: string; reusePort: boolean }): Promise<void> {
    const type = isIPv4(host) ? 'udp4' : 'udp6'
    const socket = createSocket({ type, reusePort, lookup: literalLookup, recvBufferSize: RECEIVE_BUFFER })
    this.#socket = socket
    return new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.bind({ port, address: host === '' ? '::' : host, exclusive: true }, () => {
        socket.off('error', reject)
        // Errors of one receive (no memory, an unreachable client) are temporary; the next datagram may succeed.
        socket.on('error', () => {})
        socket.on('message', (datagram, source) => this.#received(datagram, source))
        resolve()
      })
    })
  }

  /** Sessions that the new state denies, or whose backend is gone, end; the others continue. */
  update(state: DatagramState<Session>): void {
    const before = this.#state.cap.count
    if (before !== state.cap.count) {
      before.add(-this.#table.size)
      state.cap.count.add(this.#table.size)
    }
    this.#state = state
    for (const entry of this.#table.list()) {
      const { session } = entry
      if (session === null) continue
      if (state.admits !== null && !state.admits(entry.info)) entry.end('denied')
      else if (!state.keeps(session)) entry.end('removed')
    }
  }

  /** Closes the port once the sessions of this moment are quiet. Until then other sources are served too. */
  stopListening(): Promise<void> {
    if (this.#remaining === null) {
      this.#remaining = new Set(this.#table.list())
      for (const entry of this.#remaining) this.#deadlines.set(entry.idle, this.#idleMs(entry))
      this.#closeWhenQuiet()
    }
    return Promise.resolve()
  }

  /** Like `stopListening`, for a port that is no longer in the config: new sources are dropped. */
  retire(): void {
    this.#isRetired = true
    void this.stopListening()
  }

  /** Sessions have no request after which they could end, so a drain changes nothing before the port closes. */
  drain(_quietMs?: number): void {}

  destroy(): void {
    for (const entry of this.#table.list()) entry.end('shutdown')
    this.#close()
  }

  /** The port that the server listens on; 0 before and after. */
  get port(): number {
    return this.#socket === null ? 0 : this.#socket.address().port
  }

  /** The number of sessions; while the port closes, the number of those that it waits for. */
  get connectionCount(): number {
    return this.#remaining?.size ?? this.#table.size
  }

  /** Adds the open sessions, by the key of their route. */
  countOpen(counts: Map<string, number>): void {
    for (const { session } of this.#table.list()) {
      const route = session?.openRoute ?? null
      if (route !== null) counts.set(route, (counts.get(route) ?? 0) + 1)
    }
  }

  #received(datagram: Buffer, source: RemoteInfo): void {
    const { address, port } = source
    this.#observer.received(datagram.length)
    const known = this.#table.get(address, port)
    if (known?.received(datagram) === true) return
    try {
      this.#open(source)?.received(datagram)
    } catch (error) {
      reportFault(error, 'connection')
    }
  }

  #open(source: RemoteInfo): SourceEntry<Session> | null {
    const { cap, maxSessionsPerAddress, admits } = this.#state
    const info = datagramInfo(source, () => this.#socket?.address() ?? { address: '', port: 0 })
    if (this.#isRetired) return this.#drop('port_closed')
    if (admits !== null && !admits(info)) return this.#refuse(info, 'network_authorization')
    if (this.#table.countOf(source.address) >= maxSessionsPerAddress) {
      return this.#refuse(info, 'max_sessions_per_address')
    }
    if (!cap.count.enter(cap.limit)) return this.#refuse(info, 'max_sessions')
    const entry = new SourceEntry<Session>(source, info, this.#owner)
    this.#table.add(source.address, source.port, entry)
    this.#observer.opened()
    this.#deadlines.set(entry.idle, this.#idleMs(entry))
    try {
      entry.begin(this.#state.onSession(info, entry))
    } catch (error) {
      entry.ended()
      throw error
    }
    return entry
  }

  #refuse(info: ConnectionInfo, code: DatagramRefusal): null {
    this.#observer.refused(info, code)
    this.#state.onRefused(info, code)
    return this.#drop(code)
  }

  #drop(reason: DropReason): null {
    this.#observer.dropped(reason)
    return null
  }

  #idleMs(entry: SourceEntry<Session>): number {
    const { idleTimeoutMs } = this.#state
    return this.#remaining?.has(entry) === true ? Math.min(QUIET_MS, idleTimeoutMs) : idleTimeoutMs
  }

  #remove(entry: SourceEntry<Session>): void {
    this.#deadlines.clear(entry.idle)
    this.#table.delete(entry.source.address, entry.source.port)
    this.#state.cap.count.add(-1)
    this.#observer.closed()
    if (this.#remaining?.delete(entry) === true) this.#closeWhenQuiet()
  }

  readonly #onSent = (error: NodeJS.ErrnoException | null): void => {
    if (error !== null) this.#drop(error.code === 'EMSGSIZE' ? 'too_large' : 'send_failed')
  }

  #closeWhenQuiet(): void {
    if (this.#remaining?.size !== 0 || this.#socket === null) return
    // Sessions that began meanwhile cannot get replies any more.
    const socket = this.#socket
    this.#socket = null
    for (const entry of this.#table.list()) entry.end('shutdown')
    socket.close()
  }

  #close(): void {
    const socket = this.#socket
    this.#socket = null
    socket?.close()
  }
}

function datagramInfo(
  { address: raw, port }: RemoteInfo,
  local: () => { address: string; port: number },
): ConnectionInfo {
  const address = plainAddress(raw)
  return {
    address,
    port,
    rawAddress: address,
    rawPort: port,
    scheme: 'http',
    sni: '',
    handshake: '',
    source: (address.includes(':') ? `[${address}]` : address) + ':' + port,
    destination() {
      const own = local()
      return { address: plainAddress(own.address), port: own.port }
    },
    principal: () => '',
  }
}

/** The kernel caps the size at `net.core.rmem_max`. */
const RECEIVE_BUFFER = 4 * 1024 * 1024
/** While a port closes, a session is over after this time without datagrams. */
const QUIET_MS = 1_000

const UNOBSERVED: DatagramObserver = {
  opened() {},
  closed() {},
  received() {},
  sent() {},
  dropped() {},
  refused() {},
}
