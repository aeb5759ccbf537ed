import { Backoff } from '../kube/backoff.ts'
import { type Cluster, type Outcome, reconcile } from './reconcile.ts'
import type { DeploySettings, Wish } from './render.ts'

export interface DeployerOptions {
  cluster: Cluster
  settings: DeploySettings
  /** Told of every try; the key is that of the Gateway, `namespace/name`. */
  report: (key: string, outcome: Outcome) => void
  createBackoff?: () => Backoff
}

export type WishedFor = Omit<Wish, 'sessionKey'>

interface Entry {
  wish: WishedFor
  backoff: Backoff
  isRunning: boolean
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
  readonly #entryByKey = new Map<string, Entry>()
  /** Keys that wait for their turn, the longest waiting first. */
  readonly #waiting = new Set<string>()
  readonly #running = new Set<Promise<void>>()
  #isStarted = false

  constructor(options: DeployerOptions) {
    const createBackoff = (): Backoff => new Backoff({ firstMs: 500, mostMs: 10_000 })
    this.#options = { createBackoff, ...options }
  }

  /** A Gateway that is new, or about which something is. */
  want(key: string, wish: WishedFor): void {
    const entry = this.#entryByKey.get(key)
    if (entry === undefined) {
      const backoff = this.#options.createBackoff()
      this.#entryByKey.set(key, { wish, backoff, isRunning: false, retry: null })
    } else {
      entry.wish = wish
      entry.backoff.reset()
    }
    this.touch(key)
  }

  /** A Gateway that is gone, or not ours any more. Its objects go with it: they name it as their owner. */
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
    await Promise.all(this.#running)
  }

  #next(): void {
    for (const key of this.#waiting) {
      const entry = this.#entryByKey.get(key)
      if (!this.#isStarted || this.#running.size >= MOST_AT_ONCE) return
      if (entry === undefined || entry.isRunning) continue
      this.#waiting.delete(key)
      const run = this.#run(key, entry).finally(() => {
        this.#running.delete(run)
        this.#next()
      })
      this.#running.add(run)
    }
  }

  async #run(key: string, entry: Entry): Promise<void> {
    clearRetry(entry)
    entry.isRunning = true
    const outcome = await this.#try(entry.wish)
    entry.isRunning = false
    // Whoever was forgotten meanwhile is of no interest.
    if (this.#entryByKey.get(key) !== entry) return
    this.#options.report(key, outcome)
    if (outcome.failures.length === 0) return entry.backoff.reset()
    if (this.#isStarted) entry.retry = setTimeout(() => this.touch(key), entry.backoff.next())
  }

  async #try(wish: WishedFor): Promise<Outcome> {
    try {
      return await reconcile(this.#options.cluster, wish, this.#options.settings)
    } catch (error) {
      const failures = [error instanceof Error ? error.message : String(error)]
      return { addresses: null, problems: [], failures, skippedPorts: [], applied: [], removed: [] }
    }
  }
}

function clearRetry(entry: Entry | undefined): void {
  if (entry?.retry) clearTimeout(entry.retry)
}
