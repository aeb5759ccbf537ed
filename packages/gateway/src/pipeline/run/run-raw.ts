import type { Socket } from 'node:net'
import { type ConnectionInfo, plainAddress, type ActiveRequest } from '@portico/http'
import type { HandshakePasses } from '@portico/http/server'
import { splice } from '@portico/http/websocket'
import { formatHostPort, type UpstreamCall, UpstreamError } from '@portico/http/client'
import { brokenTunnels } from './tunnel-faults.ts'
import { upstreamFailure } from '../context/failure.ts'
import type { CompiledListener } from '../compiled/compiled.ts'
import { RawRun, type RecordServices } from './raw-run.ts'

export interface RawServices extends RecordServices {
  random: () => number
  handshakes: HandshakePasses
}

/** Forwards one connection without HTTP: by server name on TLS listeners, to the only route on TCP listeners. */
export function runRaw(
  socket: Socket,
  info: ConnectionInfo,
  listener: CompiledListener,
  services: RawServices,
): ActiveRequest {
  const run = new RawRun(info, listener, services)
  new ForwardedConnection(run, services).start(socket)
  return run
}

class ForwardedConnection {
  readonly #run: RawRun
  readonly #services: RawServices
  /** Whether the TLS handshake is counted for loop detection. */
  #isCounted = false

  constructor(run: RawRun, services: RawServices) {
    this.#run = run
    this.#services = services
  }

  start(socket: Socket): void {
    const run = this.#run
    const arrivedAt = formatHostPort(plainAddress(socket.localAddress ?? ''), socket.localPort ?? 0)
    run.leadsBack = (endpoint) => endpoint === arrivedAt
    const backend = run.choose(({ pick }) => (pick === null ? -1 : pick(this.#services.random())))
    if ('reason' in backend) return this.#refuse(socket, backend.reason, backend.error)
    if (run.sni === null && backend.needsName) return this.#refuse(socket, 'InvalidRequest', 'no server name')
    if (!this.#countPass()) return this.#refuse(socket, 'LoopDetected', 'loop detected')
    let call: UpstreamCall | null = null
    const onGone = (): void => {
      call?.cancel(GONE)
      this.#end('ClientGone', 'client closed the connection')
    }
    socket.once('close', onGone)
    call = backend.connect(`${run.sni ?? ''}:${socket.localPort ?? 0}`, run, (upstream) => {
      socket.off('close', onGone)
      if (upstream instanceof UpstreamError) {
        return this.#refuse(socket, upstreamFailure(upstream).reason, upstream.message)
      }
      if (run.isOver || socket.destroyed) {
        upstream.destroy()
        return this.#end('ClientGone', 'client closed the connection')
      }
      splice({ socket, early: null }, { socket: upstream, early: null }, (end) => {
        run.requestBytes = end.bytesToBackend
        run.responseBytes = end.bytesToClient
        if (end.brokenBy === null) return this.#end('Upstream', null)
        this.#end(end.brokenBy === 'backend' ? 'UpstreamFailure' : 'ClientGone', brokenTunnels[end.brokenBy].message)
      })
    })
  }

  #countPass(): boolean {
    const { handshake } = this.#run.connection
    if (handshake === '') return true
    this.#isCounted = this.#services.handshakes.enter(handshake)
    return this.#isCounted
  }

  #refuse(socket: Socket, reason: string, error: string): void {
    socket.destroy()
    this.#end(reason, error)
  }

  #end(reason: string, error: string | null): void {
    if (this.#run.end(reason, error) && this.#isCounted) {
      this.#services.handshakes.leave(this.#run.connection.handshake)
    }
  }
}

const GONE = new Error('client closed the connection')
