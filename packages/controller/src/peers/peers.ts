import type { Generation } from '@portico/gateway/stream'
import type { Resource } from '@portico/translate'
import type { GatewayState } from '../status/gateway-status-tracker.ts'
import { PeerAddresses } from './peer-addresses.ts'
import { PeerClient, type PeerClientOptions } from './peer-client.ts'
import type { PeerState } from './peer-messages.ts'

type LogMethod = (message: string, fields?: Readonly<Record<string, unknown>>) => void

export interface PeersOptions extends Pick<PeerClientOptions, 'serverName' | 'identity' | 'backoff' | 'silenceMs'> {
  /** `namespace/name` of the Service of the controllers. */
  service: string
  /** The name of the own Pod. */
  pod: string
  /** Called when the state of the data planes of these Gateways changed. */
  changed: (gateways: Iterable<string>) => void
  /**
   * Called when another controller appears, disappears, connects or is lost, which may change the state of every
   * Gateway.
   */
  peersChanged: () => void
  log: { info: LogMethod; warn: LogMethod; debug: LogMethod }
}

/**
 * The other controllers. Data planes connect to any controller; the leader collects the state from all others, so that it
 * can report every Gateway. The state is never stored.
 */
export class Peers {
  readonly #options: PeersOptions
  readonly #addresses: PeerAddresses
  readonly #clientByAddress = new Map<string, PeerClient>()
  #isLeading = false

  constructor(options: PeersOptions) {
    this.#options = options
    this.#addresses = new PeerAddresses(options.service, options.pod)
  }

  /** Whether the state of some other controller is unknown. */
  get isIncomplete(): boolean {
    return this.#clientByAddress.values().some(({ isHeard }) => !isHeard)
  }

  /** Takes an EndpointSlice of any Service. */
  take(key: string, slice: Resource | undefined): void {
    if (this.#addresses.take(key, slice)) this.#settle()
  }

  lead(): void {
    this.#isLeading = true
    this.#settle()
  }

  follow(): void {
    this.#isLeading = false
    this.#settle()
  }

  /** Adds the state at other controllers; `generation` is that of the newest config. */
  complete(gateway: string, own: GatewayState, generation: Generation | null): GatewayState {
    const states = [...this.#clientByAddress.values()].flatMap((client) => client.stateOf(gateway) ?? [])
    if (states.length === 0) return own
    const runs = ({ acknowledged }: PeerState): boolean => generation !== null && acknowledged.includes(generation)
    const closed = own.quarantined === undefined ? states.find(({ quarantined }) => quarantined !== undefined) : own
    const refused = own.problems.length > 0 ? own : states.find(({ problems }) => problems.length > 0)
    const notServing = states.reduce((sum, state) => sum + (state.notServing ?? 0), own.notServing ?? 0)
    return {
      connected: states.reduce((sum, { connected }) => sum + connected, own.connected),
      ...(notServing > 0 && { notServing }),
      acknowledged: own.acknowledged || states.some(runs),
      problems: refused?.problems ?? [],
      ...(closed?.quarantined !== undefined && { quarantined: closed.quarantined }),
    }
  }

  #settle(): void {
    const wanted = this.#isLeading ? this.#addresses.all : new Set<string>()
    const gone = [...this.#clientByAddress].filter(([address]) => !wanted.has(address))
    for (const [address, client] of gone) {
      this.#clientByAddress.delete(address)
      client.close()
    }
    const found = [...wanted].filter((address) => !this.#clientByAddress.has(address))
    for (const address of found) this.#clientByAddress.set(address, this.#createClient(address))
    if (gone.length + found.length > 0) this.#options.peersChanged()
  }

  #createClient(address: string): PeerClient {
    const { serverName, identity, changed, peersChanged, log, backoff, silenceMs } = this.#options
    let hasComplained = false
    return new PeerClient({
      address,
      serverName,
      identity,
      changed,
      heard: (isHeard, problem) => {
        if (isHeard) log.info('connected to another controller', { address })
        else log[hasComplained ? 'debug' : 'warn']('cannot reach another controller', { address, problem })
        const isNews = isHeard || !hasComplained
        hasComplained = !isHeard
        if (isNews) peersChanged()
      },
      ...(backoff && { backoff }),
      ...(silenceMs !== undefined && { silenceMs }),
    })
  }
}
