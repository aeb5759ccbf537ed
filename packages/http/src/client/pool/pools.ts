import type { Deadlines } from '../../runtime/deadlines.ts'
import type { Hops } from '../../fields/hops.ts'
import { dial, type Dial } from './dial.ts'
import { Pool, type PoolObserver, type PoolOptions } from './pool.ts'

/** The transport of a connection, as metrics name it. */
type Transport = 'plaintext' | 'tls' | 'tunnel' | 'tunnel-tls' | 'hbone'

/**
 * The pools of a worker, keyed by everything that makes connections interchangeable; they outlive config generations.
 */
export class Pools {
  readonly #deadlines: Deadlines
  readonly #hops: Hops
  readonly #observe: (transport: Transport) => PoolObserver
  readonly #open: Dial
  readonly #poolsByKey = new Map<string, Pool>()
  #sweepAt = FIRST_SWEEP

  /** `open` opens connections; a simulation opens them in memory. */
  constructor(
    deadlines: Deadlines,
    hops: Hops,
    observe: (transport: Transport) => PoolObserver = () => UNOBSERVED,
    open: Dial = dial,
  ) {
    this.#open = open
    this.#deadlines = deadlines
    this.#hops = hops
    this.#observe = observe
  }

  get(key: string, options: () => PoolOptions): Pool {
    let pool = this.#poolsByKey.get(key)
    if (pool === undefined) {
      if (this.#poolsByKey.size >= this.#sweepAt) this.#dropUnused()
      const made = options()
      pool = new Pool(made, {
        deadlines: this.#deadlines,
        hops: this.#hops,
        observer: this.#observe(transportOf(made)),
        open: this.#open,
      })
      this.#poolsByKey.set(key, pool)
    }
    return pool
  }

  /** Lets the calls of the pools whose key begins with `prefix` end; later calls get new pools. */
  retire(prefix: string): void {
    for (const [key, pool] of this.#poolsByKey) {
      if (!key.startsWith(prefix)) continue
      this.#poolsByKey.delete(key)
      pool.close()
    }
  }

  close(): void {
    for (const pool of this.#poolsByKey.values()) pool.close()
    this.#poolsByKey.clear()
  }

  /** Addresses change with DNS and with forward proxy targets; a pool without connections can be dropped. */
  #dropUnused(): void {
    for (const [key, pool] of this.#poolsByKey) if (pool.size === 0) this.#poolsByKey.delete(key)
    this.#sweepAt = Math.max(FIRST_SWEEP, this.#poolsByKey.size * 2)
  }
}

function transportOf({ tls, tunnel, isHbone }: PoolOptions): Transport {
  if (isHbone === true) return 'hbone'
  if (tunnel !== null) return tls === null ? 'tunnel' : 'tunnel-tls'
  return tls === null ? 'plaintext' : 'tls'
}

const UNOBSERVED: PoolObserver = { opened() {}, closed() {}, connectFailed() {}, fellSilent() {} }

const FIRST_SWEEP = 256
