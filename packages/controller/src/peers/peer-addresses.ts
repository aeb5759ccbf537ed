import type { Resource } from '@portico/translate'
import { listAt, textAt, valueAt } from '@portico/translate/json'

/** The port of the Service for data planes and other controllers. */
const PORT_NAME = 'stream'

/** The addresses of the other controllers, from the EndpointSlices of their Service. */
export class PeerAddresses {
  readonly #service: string
  readonly #ownPod: string
  readonly #addressesBySlice = new Map<string, readonly string[]>()

  /** Takes `namespace/name` of the Service, and the name of the own Pod. */
  constructor(service: string, ownPod: string) {
    this.#service = service
    this.#ownPod = ownPod
  }

  /** `host:port` of each controller. */
  get all(): ReadonlySet<string> {
    return new Set([...this.#addressesBySlice.values()].flat())
  }

  /** Takes an EndpointSlice of any Service, undefined when deleted; returns false for slices of other Services. */
  take(key: string, slice: Resource | undefined): boolean {
    const { namespace, labels } = slice?.metadata ?? {}
    if (`${namespace}/${labels?.['kubernetes.io/service-name']}` !== this.#service)
      return this.#addressesBySlice.delete(key)
    const ports = listAt(slice, 'ports')
    const port = Number(valueAt(ports.find((one) => textAt(one, 'name') === PORT_NAME) ?? ports[0], 'port'))
    const isIpv6 = textAt(slice, 'addressType') === 'IPv6'
    // Controllers that are not ready, or are terminating, may still have data planes.
    const others = listAt(slice, 'endpoints').filter(
      (one) => textAt(valueAt(one, 'targetRef'), 'name') !== this.#ownPod,
    )
    const hosts = others.map((one) => listAt(one, 'addresses')[0]).filter((host) => typeof host === 'string')
    const found = hosts.map((host) => (isIpv6 ? `[${host}]:${port}` : `${host}:${port}`))
    this.#addressesBySlice.set(key, Number.isNaN(port) ? [] : found)
    return true
  }
}
