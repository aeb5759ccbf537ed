import type { Resource } from '@portico/translate'
import { listAt, textAt, valueAt } from '../deploy/json.ts'

/** The port of the Service by which data planes, and other controllers, come. */
const PORT_NAME = 'stream'

/** Where the other controllers are, by the EndpointSlices of the Service by which data planes find them. */
export class PeerAddresses {
  readonly #service: string
  readonly #ownPod: string
  readonly #addressesBySlice = new Map<string, readonly string[]>()

  /** `namespace/name` of the Service, and the name of the own Pod. */
  constructor(service: string, ownPod: string) {
    this.#service = service
    this.#ownPod = ownPod
  }

  /** `host:port` of each. */
  get all(): ReadonlySet<string> {
    return new Set([...this.#addressesBySlice.values()].flat())
  }

  /** An EndpointSlice of whatever Service, or that one is gone. False when nothing of it is about controllers. */
  take(key: string, slice: Resource | undefined): boolean {
    const { namespace, labels } = slice?.metadata ?? {}
    if (`${namespace}/${labels?.['kubernetes.io/service-name']}` !== this.#service)
      return this.#addressesBySlice.delete(key)
    const ports = listAt(slice, 'ports')
    const port = Number(valueAt(ports.find((one) => textAt(one, 'name') === PORT_NAME) ?? ports[0], 'port'))
    const isIpv6 = textAt(slice, 'addressType') === 'IPv6'
    // One that is not ready, or is about to end, may have data planes still.
    const others = listAt(slice, 'endpoints').filter(
      (one) => textAt(valueAt(one, 'targetRef'), 'name') !== this.#ownPod,
    )
    const hosts = others.map((one) => listAt(one, 'addresses')[0]).filter((host) => typeof host === 'string')
    const found = hosts.map((host) => (isIpv6 ? `[${host}]:${port}` : `${host}:${port}`))
    this.#addressesBySlice.set(key, Number.isNaN(port) ? [] : found)
    return true
  }
}
