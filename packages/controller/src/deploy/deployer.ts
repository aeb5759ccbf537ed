import { Backoff } from '../kube/backoff.ts'
import type { Resource } from '@portico/translate'
import { type Cluster, type Outcome, reconcile, withdraw } from './reconcile.ts'
import type { DeploySettings, Wish } from './render.ts'

export interface DeployerOptions {
  cluster: Cluster
  /** At first: see `configure`. */
  settings: DeploySettings
  /** Told of every try; the key is that of the Gateway, `namespace/name`. */
  report: (key: string, outcome: Outcome) => void
  createBackoff?: () => Backoff
}

export type WishedFor = Omit<Wish, 'sessionKey'>

interface Entry {
  /** A Gateway for which nothing is wanted any more is alone. */
  wish: WishedFor | { released: Resource }
  backoff: Backoff
  retry: NodeJS.Timeout | null
}

/** Enough for a cluster that comes up, and not more than an API server likes. */
const MOST_AT_ONCE = 4

/**
 * Keeps what is deployed as it is wanted: for each Gateway one try at a time, with the last wish, and again after a
 * failure. It works only between `start` and `stop`: of several controllers one deploys.
 */
export class Deployer {
  readonly #options: Required<DeployerOptions>
  #settings: DeploySettings
  readonly #entryByKey = new Map<string, Entry>()
  /** Keys that wait for their turn, the longest waiting first. */
  readonly #waiting = new Set<string>()
  /** Tries that are under way, by key: also of a Gateway that is gone, while another of its name has come. */
  readonly #running = new Map<string, Promise<void>>()
  #isStarted = false

  constructor(options: DeployerOptions) {
    const createBackoff = (): Backoff => new Backoff({ firstMs: 500, mostMs: 10_000 })
    this.#options = { createBackoff, ...options }
    this.#settings = options.settings
  }

  /** What holds for all Gateways is another, such as the CA of the controller. */
  configure(settings: DeploySettings): void {
    this.#settings = settings
    for (const key of this.#entryByKey.keys()) this.touch(key)
  }

  /** A Gateway that is new, or about which something is. */
  want(key: string, wish: WishedFor): void {
    this.#set(key, wish)
  }

  /** A Gateway that is still there, but not of our class any more: what was deployed for it is removed. */
  release(key: string, gateway: Resource): void {
    this.#set(key, { released: gateway })
  }

  #set(key: string, wish: Entry['wish']): void {
    const entry = this.#entryByKey.get(key)
    if (entry === undefined) {
      const backoff = this.#options.createBackoff()
      this.#entryByKey.set(key, { wish, backoff, retry: null })
    } else {
      entry.wish = wish
      entry.backoff.reset()
    }
    this.touch(key)
  }

  /** A Gateway that is gone. Its objects go with it: they name it as their owner. */
  forget(key: string): void {
    clearRetry(this.#entryByKey.get(key))
    this.#entryByKey.delete(key)
    this.#waiting.delete(key)
  }

  /** Somebody has changed an object of the Gateway. */
  touch(key: string): void {
    if (!this.#entryByKey.has(key)) return
    this.#waiting.add(key)
    this.#next()
  }

  start(): void {
    this.#isStarted = true
    for (const key of this.#entryByKey.keys()) this.touch(key)
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    this.#isStarted = false
    for (const entry of this.#entryByKey.values()) clearRetry(entry)
    await Promise.all(this.#running.values())
  }

  #next(): void {
    for (const key of this.#waiting) {
      const entry = this.#entryByKey.get(key)
      if (!this.#isStarted || this.#running.size >= MOST_AT_ONCE) return
      if (entry === undefined || this.#running.has(key)) continue
      this.#waiting.delete(key)
      const run = this.#run(key, entry).finally(() => {
        this.#running.delete(key)
        this.#next()
      })
      this.#running.set(key, run)
    }
  }

  async #run(key: string, entry: Entry): Promise<void> {
    clearRetry(entry)
    const { wish } = entry
    const outcome = await this.#try(wish)
    // Whoever was forgotten meanwhile is of no interest.
    if (this.#entryByKey.get(key) !== entry) return
    this.#options.report(key, outcome)
    if (outcome.failures.length === 0) {
      if ('released' in wish && entry.wish === wish) this.forget(key)
      return entry.backoff.reset()
    }
    if (this.#isStarted) entry.retry = setTimeout(() => this.touch(key), entry.backoff.next())
  }

  async #try(wish: Entry['wish']): Promise<Outcome> {
    try {
      if ('released' in wish) return await withdraw(this.#options.cluster, wish.released)
      return await reconcile(this.#options.cluster, wish, this.#settings)
    } catch (error) {
      const failures = [error instanceof Error ? error.message : String(error)]
      return { addresses: null, problems: [], failures, skippedPorts: [], applied: [], removed: [] }
    }
  }
}

function clearRetry(entry: Entry | undefined): void {
  if (entry?.retry) clearTimeout(entry.retry)
}
