import { setTimeout as wait } from 'node:timers/promises'
import type { Resource } from '@portico/translate'
import { Backoff } from '../kube/backoff.ts'
import type { ApiKind } from '../kube/kinds.ts'
import type { KubeClient } from '../kube/kube-client.ts'
import { KubeError } from '../kube/kube-error.ts'
import { Reflector, type ReflectorOptions, type Watcher } from '../kube/reflector.ts'
import { servedKind } from './served-version.ts'
import type { WatchedKind } from './watched-kinds.ts'

const MISSING_MS = 5_000

/** The objects of a kind, in whichever version the server has it, also when it comes only later. */
export class KindWatch {
  readonly #client: KubeClient
  readonly #watched: WatchedKind
  readonly #watcher: Watcher
  readonly #options: ReflectorOptions
  #reflector: Reflector | null = null
  #api: ApiKind | null = null

  constructor(client: KubeClient, watched: WatchedKind, watcher: Watcher, options: ReflectorOptions = {}) {
    this.#client = client
    this.#watched = watched
    this.#watcher = watcher
    const { fieldSelector } = watched
    this.#options = { ...(fieldSelector !== undefined && { fieldSelector }), ...options }
  }

  get items(): ReadonlyMap<string, Resource> {
    return this.#reflector?.items ?? NONE
  }

  /** As the server has it; null as long as it has not. */
  get api(): ApiKind | null {
    return this.#api
  }

  /** Works until the signal is raised. */
  async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(this.#options.backoff)
    while (!signal.aborted) {
      try {
        const api = await servedKind(this.#client, this.#watched, signal)
        backoff.reset()
        if (api === null) this.#watcher.synced(true)
        else await this.#watch(api, signal)
        await pause(this.#options.missingMs ?? MISSING_MS, signal)
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof KubeError)) throw error
        this.#watcher.troubled(error)
        await pause(Math.max(error.retryAfterMs ?? 0, backoff.next()), signal)
      }
    }
  }

  /** Until the server has this version no more. */
  async #watch(api: ApiKind, signal: AbortSignal): Promise<void> {
    const gone = new AbortController()
    const watcher: Watcher = {
      changed: (key, resource) => this.#watcher.changed(key, resource),
      troubled: (error) => this.#watcher.troubled(error),
      synced: (isMissing) => {
        this.#api = isMissing ? null : api
        this.#watcher.synced(isMissing)
        if (isMissing) gone.abort()
      },
    }
    this.#reflector = new Reflector(this.#client, api, watcher, this.#options)
    await this.#reflector.run(AbortSignal.any([signal, gone.signal]))
  }
}

const NONE: ReadonlyMap<string, Resource> = new Map()

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}
