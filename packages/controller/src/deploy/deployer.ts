import { Backoff } from '../kube/backoff.ts'
import type { Resource } from '@portico/translate'
import { type Cluster, type Outcome, reconcile, withdraw } from './reconcile.ts'
import type { DeploySettings, DesiredDeployment } from './render.ts'

interface DeployerOptions {
  cluster: Cluster
  /** The settings at the start; `configure` changes them. */
  settings: DeploySettings
  /** Called after every attempt; the key is `namespace/name` of the Gateway. */
  report: (key: string, outcome: Outcome) => void
  createBackoff?: () => Backoff
}

export type DesiredState = Omit<DesiredDeployment, 'sessionKey'>

interface Entry {
  /** The objects to deploy, or the Gateway that changed its class, whose objects are removed. */
  desired: DesiredState | { released: Resource }
  backoff: Backoff
  retry: NodeJS.Timeout | null
}

/** Attempts that run at once: enough for a cluster that starts, and bearable for an API server. */
const MOST_AT_ONCE = 4

/**
 * Keeps the objects of each Gateway in their desired state: one attempt at a time per Gateway, with the newest state,
 * and retries after failures. It works only between `start` and `stop`, because only the leading controller deploys.
 */
export class Deployer {
  readonly #options: Required<DeployerOptions>
  #settings: DeploySettings
  readonly #entryByKey = new Map<string, Entry>()
  /** Keys that wait for an attempt, in order of arrival. */
  readonly #waiting = new Set<string>()
  /** Attempts under way, by key. An attempt for a deleted Gateway may still run when another of the same name appears. */
  readonly #running = new Map<string, Promise<void>>()
  #isStarted = false

  constructor(options: DeployerOptions) {
    const createBackoff = (): Backoff => new Backoff({ firstMs: 500, mostMs: 10_000 })
    this.#options = { createBackoff, ...options }
    this.#settings = options.settings
  }

  /** Replaces the settings of all Gateways, such as the CA of the controller. */
  configure(settings: DeploySettings): void {
    this.#settings = settings
    for (const key of this.#entryByKey.keys()) this.touch(key)
  }

  /** Deploys a new or changed Gateway. */
  want(key: string, desired: DesiredState): void {
    this.#set(key, desired)
  }

  /** Removes the objects of a Gateway that still exists, but now belongs to another class. */
  release(key: string, gateway: Resource): void {
    this.#set(key, { released: gateway })
  }

  #set(key: string, desired: Entry['desired']): void {
    const entry = this.#entryByKey.get(key)
    if (entry === undefined) {
      const backoff = this.#options.createBackoff()
      this.#entryByKey.set(key, { desired, backoff, retry: null })
    } else {
      entry.desired = desired
      entry.backoff.reset()
    }
    this.touch(key)
  }

  /** Forgets a deleted Gateway. Kubernetes deletes its objects, because they name the Gateway as owner. */
  forget(key: string): void {
    clearRetry(this.#entryByKey.get(key))
    this.#entryByKey.delete(key)
    this.#waiting.delete(key)
  }

  /** Checks the objects of a Gateway after somebody changed one. */
  touch(key: string): void {
    if (!this.#entryByKey.has(key)) return
    this.#waiting.add(key)
    this.#next()
  }

  start(): void {
    this.#isStarted = true
    for (const key of this.#entryByKey.keys()) this.touch(key)
  }

  /** Resolves when no attempt is under way. */
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
    const { desired } = entry
    const outcome = await this.#try(desired)
    // The Gateway was forgotten during the attempt.
    if (this.#entryByKey.get(key) !== entry) return
    this.#options.report(key, outcome)
    if (outcome.failures.length === 0) {
      if ('released' in desired && entry.desired === desired) this.forget(key)
      return entry.backoff.reset()
    }
    if (this.#isStarted) entry.retry = setTimeout(() => this.touch(key), entry.backoff.next())
  }

  async #try(desired: Entry['desired']): Promise<Outcome> {
    try {
      if ('released' in desired) return await withdraw(this.#options.cluster, desired.released)
      return await reconcile(this.#options.cluster, desired, this.#settings)
    } catch (error) {
      const failures = [error instanceof Error ? error.message : String(error)]
      return { addresses: null, problems: [], failures, skippedPorts: [], applied: [], removed: [], kept: [] }
    }
  }
}

function clearRetry(entry: Entry | undefined): void {
  if (entry?.retry) clearTimeout(entry.retry)
}
