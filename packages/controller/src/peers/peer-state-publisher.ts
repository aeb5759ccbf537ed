import type { ServerHttp2Stream } from 'node:http2'
import { LineWire } from '../line-wire.ts'
import { type PeerState, peerLineOf } from './peer-messages.ts'

interface Listener {
  wire: LineWire
  hasAll: boolean
  /** Gateways whose newest state was not sent yet. */
  untold: Set<string>
  busyTicks: number
}

const MOST_BUSY_TICKS = 3

/** Publishes the state of this controller's data planes to other controllers. */
export class PeerStatePublisher {
  readonly #states = new Map<string, PeerState>()
  readonly #listeners = new Set<Listener>()

  /** Adds the stream of an authenticated controller. */
  take(stream: ServerHttp2Stream): void {
    stream.respond({ ':status': 200, 'content-type': 'application/jsonl' })
    const wire = new LineWire(stream, (isAll) => {
      listener.busyTicks = 0
      if (isAll) this.#flush(listener)
    })
    const listener: Listener = { wire, hasAll: false, untold: new Set(), busyTicks: 0 }
    this.#listeners.add(listener)
    stream.on('close', () => this.#listeners.delete(listener))
    stream.resume()
    this.#flush(listener)
  }

  /** Publishes the state of a Gateway; null when there is none any more. */
  tell(gateway: string, state: PeerState | null): void {
    const before = this.#states.get(gateway) ?? null
    if (isSame(before, state)) return
    if (state === null) this.#states.delete(gateway)
    else this.#states.set(gateway, state)
    for (const listener of this.#listeners) {
      listener.untold.add(gateway)
      this.#flush(listener)
    }
  }

  ping(): void {
    for (const listener of this.#listeners) {
      if (!listener.wire.isBusy) listener.wire.send(peerLineOf({ type: 'ping' }))
      else if (++listener.busyTicks > MOST_BUSY_TICKS) listener.wire.cut()
    }
  }

  close(): void {
    for (const { wire } of this.#listeners) wire.end()
  }

  #flush(listener: Listener): void {
    const { wire, untold, hasAll } = listener
    if (wire.isBusy || (hasAll && untold.size === 0)) return
    const put: [string, PeerState][] = []
    const drop: string[] = []
    for (const gateway of hasAll ? untold : this.#states.keys()) {
      const state = this.#states.get(gateway)
      if (state === undefined) drop.push(gateway)
      else put.push([gateway, state])
    }
    untold.clear()
    listener.hasAll = true
    wire.send(peerLineOf({ type: 'states', whole: !hasAll, put, drop }))
  }
}

function isSame(one: PeerState | null, other: PeerState | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
