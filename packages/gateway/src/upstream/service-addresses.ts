import type { Resolver } from './dns.ts'
import { UpstreamError } from './upstream-types.ts'

/** Where Services are reached now, by the key of the backend: `10.0.0.7:8080`. */
export interface EndpointsChange {
  put: readonly (readonly [key: string, addresses: readonly string[]])[]
  drop: readonly string[]
}

/** Addresses of Services, which come beside the config and change without it. */
export class ServiceAddresses {
  readonly #addressesByKey = new Map<string, readonly string[]>()

  take({ put, drop }: EndpointsChange): void {
    for (const key of drop) this.#addressesByKey.delete(key)
    for (const [key, addresses] of put) this.#addressesByKey.set(key, addresses)
  }

  /** What all of them are, for somebody who has heard of none. */
  whole(): EndpointsChange {
    return { put: [...this.#addressesByKey], drop: [] }
  }

  /** Answers at once, whatever name it is asked for. */
  resolverOf(key: string): Resolver {
    const byKey = this.#addressesByKey
    const get = (): readonly string[] | null => {
      const addresses = byKey.get(key)
      return addresses === undefined || addresses.length === 0 ? null : addresses
    }
    return {
      get,
      resolve(host, done) {
        const addresses = get()
        if (addresses !== null) return done(null, addresses)
        done(new UpstreamError('no_endpoints', `${host} has no ready endpoint`, true), [])
      },
      close() {},
    }
  }
}
