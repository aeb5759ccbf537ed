import type { Tunnel } from '../pool/dial.ts'
import { reportFault } from '../../runtime/faults.ts'
import { internalFailure } from '../upstream-types.ts'
import type { HboneOptions, HbonePools } from './hbone-pools.ts'

/** The destination of a tunnel. */
interface TunnelTarget {
  /** The SPIFFE ID that the peer must have; null accepts every identity of the accepted trust domains. */
  identity?: string | null
  port?: number
}

/** The tunnels of a worker to workloads of its mesh. Their code is loaded with the first tunnel: most gateways have no mesh. */
export class Hbone {
  readonly #options: HboneOptions
  #pools: HbonePools | null = null

  constructor(options: HboneOptions) {
    this.#options = options
  }

  tunnel({ identity = null, port = this.#options.port ?? HBONE_PORT }: TunnelTarget = {}): Tunnel {
    return {
      name: NAME,
      key: JSON.stringify([NAME, identity, port]),
      takesAddresses: true,
      open: (target, trail, done) => {
        const hops = trail?.before ?? ''
        if (this.#pools !== null) return this.#pools.open({ target, port, identity, hops }, done)
        let cancel: (() => void) | null = null
        let isCanceled = false
        const start = (pools: HbonePools): void => {
          if (!isCanceled) cancel = pools.open({ target, port, identity, hops }, done)
        }
        const fail = (error: unknown): void => {
          reportFault(error, 'worker')
          if (!isCanceled) done(internalFailure())
        }
        this.#load().then(start).catch(fail)
        return () => {
          isCanceled = true
          cancel?.()
        }
      },
    }
  }

  /** Retires the connections of a certificate that was replaced or expired; without it, they stay until the next tunnel. */
  certificateChanged(): void {
    this.#pools?.certificateChanged()
  }

  async #load(): Promise<HbonePools> {
    const { HbonePools: Loaded } = await import('./hbone-pools.ts')
    this.#pools ??= new Loaded(this.#options)
    return this.#pools
  }
}

const NAME = 'HBONE'
/** The port of HBONE on the workloads of Istio. */
const HBONE_PORT = 15_008
