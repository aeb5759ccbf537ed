import type { Resolver } from './dns.ts'
import { UpstreamError } from '../upstream-types.ts'

/**
 * A change to the addresses of Services, such as `10.0.0.7:8080`, by the key of the backend. The texts have the form of
 * `parseMeshAddress`.
 */
export interface EndpointsChange {
  put: readonly (readonly [key: string, addresses: readonly string[]])[]
  drop: readonly string[]
}

/** Addresses of Services, which arrive separately from the config and change without it. */
export class ServiceAddresses {
  readonly #addressesByKey = new Map<string, readonly string[]>()

  take({ put, drop }: EndpointsChange): void {
    for (const key of drop) this.#addressesByKey.delete(key)
    for (const [key, addresses] of put) this.#addressesByKey.set(key, addresses)
  }

  /** Returns all addresses as a change, for a receiver that has none. */
  whole(): EndpointsChange {
    return { put: [...this.#addressesByKey], drop: [] }
  }

  /** Returns a resolver that answers at once, whatever the name. */
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
