import type { PeerStatePublisher } from '../peers/peer-state-publisher.ts'
import type { PublishCounts } from './counts.ts'
import { GatewayFeed } from './gateway-feed.ts'
import { isSameState, NOBODY, peerStateOf, type ServedGateway, stateOf } from './gateway-state.ts'

interface ServedGatewaysOptions {
  peerPublisher: PeerStatePublisher
  counts: PublishCounts
  /** Called when the state of a Gateway changes. */
  changed: (gateway: string) => void
}

/** Gateways with their configs and data planes. Changes are sent once the caller has made all of them. */
export class ServedGateways {
  readonly #options: ServedGatewaysOptions
  readonly #servedByGateway = new Map<string, ServedGateway>()
  readonly #touched = new Set<string>()

  constructor(options: ServedGatewaysOptions) {
    this.#options = options
  }

  get(gateway: string): ServedGateway | undefined {
    return this.#servedByGateway.get(gateway)
  }

  all(): [gateway: string, served: ServedGateway][] {
    return [...this.#servedByGateway]
  }

  /** Returns the entry of a Gateway, created on first use. */
  serve(gateway: string): ServedGateway {
    let served = this.#servedByGateway.get(gateway)
    if (served === undefined) {
      served = { feed: new GatewayFeed(this.#options.counts), dataPlanes: new Set(), refusing: null, told: NOBODY }
      this.#servedByGateway.set(gateway, served)
    }
    return served
  }

  remove(gateway: string): ServedGateway | undefined {
    const served = this.#servedByGateway.get(gateway)
    if (this.#servedByGateway.delete(gateway)) this.#options.peerPublisher.tell(gateway, null)
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
      // A Gateway that was never published is not kept.
      const isUnknown = served.feed.config === null && served.feed.endpoints.size === 0
      if (isUnknown && served.dataPlanes.size === 0) this.#servedByGateway.delete(gateway)
      this.#options.peerPublisher.tell(gateway, peerStateOf(served))
      const state = stateOf(served)
      if (isSameState(state, served.told)) continue
      served.told = state
      this.#options.changed(gateway)
    }
  }
}
