import type { PeerHerald } from '../peers/peer-herald.ts'
import type { PublishCounts } from './counts.ts'
import { GatewayFeed } from './gateway-feed.ts'
import { isSameState, NOBODY, peerStateOf, type Served, stateOf } from './gateway-state.ts'

export interface ServedGatewaysOptions {
  herald: PeerHerald
  counts: PublishCounts
  /** The state of a Gateway is another one. */
  changed: (gateway: string) => void
}

/** Gateways with their configs and data planes; what is new of one is sent and told once whoever changes it is done. */
export class ServedGateways {
  readonly #options: ServedGatewaysOptions
  readonly #servedByGateway = new Map<string, Served>()
  readonly #touched = new Set<string>()

  constructor(options: ServedGatewaysOptions) {
    this.#options = options
  }

  get(gateway: string): Served | undefined {
    return this.#servedByGateway.get(gateway)
  }

  all(): [gateway: string, served: Served][] {
    return [...this.#servedByGateway]
  }

  /** Made where nothing is known of it yet. */
  serve(gateway: string): Served {
    let served = this.#servedByGateway.get(gateway)
    if (served === undefined) {
      served = { feed: new GatewayFeed(this.#options.counts), dataPlanes: new Set(), refusing: null, told: NOBODY }
      this.#servedByGateway.set(gateway, served)
    }
    return served
  }

  remove(gateway: string): Served | undefined {
    const served = this.#servedByGateway.get(gateway)
    if (this.#servedByGateway.delete(gateway)) this.#options.herald.tell(gateway, null)
    return served
  }

  touch(gateway: string): void {
    if (this.#touched.size === 0) queueMicrotask(() => this.#settle())
    this.#touched.add(gateway)
  }

  #settle(): void {
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const gateway of touched) {
      const served = this.#servedByGateway.get(gateway)
      if (served === undefined) continue
      for (const dataPlane of served.dataPlanes) dataPlane.flush()
      // Of what was never published nothing is kept.
      const isUnknown = served.feed.config === null && served.feed.endpoints.size === 0
      if (isUnknown && served.dataPlanes.size === 0) this.#servedByGateway.delete(gateway)
      this.#options.herald.tell(gateway, peerStateOf(served))
      const state = stateOf(served)
      if (isSameState(state, served.told)) continue
      served.told = state
      this.#options.changed(gateway)
    }
  }
}
