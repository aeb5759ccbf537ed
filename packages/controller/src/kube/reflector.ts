import { setTimeout as wait } from 'node:timers/promises'
import { keyOf, type Resource } from '@portico/translate'
import { Backoff, type BackoffOptions } from './backoff.ts'
import type { KubeClient } from './kube-client.ts'
import { isStatus, KubeError } from './kube-error.ts'
import { type ApiKind, apiVersionOf, pathOf } from './kinds.ts'

export interface ReflectorOptions {
  /** Of one namespace only. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Names, labels and annotations, without the rest. */
  metadataOnly?: boolean
  /** What of an object is kept; all but who wrote which field, if it is not given. */
  keep?: (resource: Resource) => Resource
  pageSize?: number
  /** How long the server keeps a watch, at least; up to twice as long. */
  watchSeconds?: number
  /** How often a kind is looked for that the server does not have. */
  missingMs?: number
  backoff?: BackoffOptions
  /** Objects as another reflector had them: only what differs from them is told. */
  known?: ReadonlyMap<string, Resource>
  /** Comes back, with the objects as they are, when the server has no such kind. */
  untilMissing?: boolean
}

export interface Watcher {
  /** An object is there or is another than before; undefined when it is gone. */
  changed(key: string, resource: Resource | undefined): void
  /** What the server has is known, for the first time or anew; `isMissing` when it has no such kind. */
  synced(isMissing: boolean): void
  /** Something went wrong and is tried again. */
  troubled(error: KubeError): void
}

/** The objects of one kind, as the API server has them: a list, then what changes, then a list again when need be. */
export class Reflector {
  readonly #client: KubeClient
  readonly #kind: ApiKind
  readonly #watcher: Watcher
  readonly #options: ReflectorOptions
  readonly #path: string
  readonly #items: Map<string, Resource>
  #version = ''

  constructor(client: KubeClient, kind: ApiKind, watcher: Watcher, options: ReflectorOptions = {}) {
    this.#client = client
    this.#kind = kind
    this.#watcher = watcher
    this.#options = options
    const { namespace, known = [] } = options
    this.#items = new Map(known)
    this.#path = pathOf(kind, namespace === undefined ? {} : { namespace })
  }

  get items(): ReadonlyMap<string, Resource> {
    return this.#items
  }

  /** Works until the signal is raised, or, if so wished, until the kind is missing. */
  async run(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(this.#options.backoff)
    while (!signal.aborted) {
      try {
        if (this.#version === '') await this.#list(signal)
        await this.#watch(signal, backoff)
      } catch (error) {
        if (signal.aborted) return
        if (this.#options.untilMissing === true && isStatus(error, 404)) return
        await pause(this.#judge(error, backoff), signal)
      }
    }
  }

  /** How long to wait, and whether to list anew. */
  #judge(error: unknown, backoff: Backoff): number {
    if (!(error instanceof KubeError)) throw error
    if (isStatus(error, 410)) {
      // What happened since is forgotten there, so everything is read anew; a server that keeps saying so is not run down.
      this.#version = ''
      return backoff.next()
    }
    if (isStatus(error, 404)) {
      this.#version = ''
      this.#replace(new Map())
      this.#watcher.synced(true)
      return this.#options.missingMs ?? MISSING_MS
    }
    this.#watcher.troubled(error)
    return Math.max(error.retryAfterMs ?? 0, backoff.next())
  }

  async #list(signal: AbortSignal): Promise<void> {
    const found = new Map<string, Resource>()
    let page: List
    let next: string | undefined
    do {
      const query = { ...this.#selectors(), limit: this.#options.pageSize ?? PAGE_SIZE, continue: next }
      page = asList(await this.#ask({ query, signal }), this.#path)
      for (const item of page.items) {
        const resource = this.#read(item)
        if (resource !== undefined) found.set(keyOf(resource), resource)
      }
      next = page.metadata.continue || undefined
    } while (next !== undefined)
    this.#replace(found)
    this.#version = page.metadata.resourceVersion
    this.#watcher.synced(false)
  }

  #ask({
    query,
    signal,
  }: {
    query: Record<string, string | number | undefined>
    signal: AbortSignal
  }): Promise<unknown> {
    const accept = this.#accept('PartialObjectMetadataList')
    return this.#client.ask({ path: this.#path, query, signal, limitMs: LIST_LIMIT_MS, accept })
  }

  async #watch(signal: AbortSignal, backoff: Backoff): Promise<void> {
    const seconds = Math.round((this.#options.watchSeconds ?? WATCH_SECONDS) * (1 + Math.random()))
    // A connection that died without a word is left when the server should long have ended the watch.
    const overdue = AbortSignal.timeout((seconds + GRACE_SECONDS) * 1000)
    const query = {
      ...this.#selectors(),
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: this.#version,
      timeoutSeconds: seconds,
    }
    const accept = this.#accept('PartialObjectMetadata')
    const events = this.#client.stream({ path: this.#path, query, signal: AbortSignal.any([signal, overdue]), accept })
    const startedAt = performance.now()
    let hasHeard = false
    try {
      for await (const event of events) {
        this.#take(event)
        hasHeard = true
        backoff.reset()
      }
    } catch (error) {
      if (!overdue.aborted || signal.aborted) throw error
    }
    // A server that ends every watch at once is not asked without a pause.
    if (!hasHeard && performance.now() - startedAt < SHORT_MS) await pause(backoff.next(), signal)
  }

  #take(event: unknown): void {
    const { type, object } = (event ?? {}) as { type?: unknown; object?: unknown }
    if (type === 'ERROR') {
      const { code, message, reason } = (object ?? {}) as { code?: number; message?: string; reason?: string }
      throw new KubeError(`WATCH ${this.#path}`, { status: code ?? 0, message: message ?? '', reason: reason ?? '' })
    }
    const resource = this.#read(object)
    const version = (object as Resource | undefined)?.metadata?.resourceVersion
    if (type !== 'BOOKMARK' && resource !== undefined)
      this.#put(keyOf(resource), type === 'DELETED' ? undefined : resource)
    if (version !== undefined) this.#version = version
  }

  #put(key: string, resource: Resource | undefined): void {
    if (resource === undefined) {
      if (this.#items.delete(key)) this.#watcher.changed(key, undefined)
      return
    }
    if (isSame(this.#items.get(key), resource)) return
    this.#items.set(key, resource)
    this.#watcher.changed(key, resource)
  }

  #replace(found: ReadonlyMap<string, Resource>): void {
    for (const key of [...this.#items.keys()]) if (!found.has(key)) this.#put(key, undefined)
    for (const [key, resource] of found) this.#put(key, resource)
  }

  /** Members of a list do not say what they are, and nobody here asks who wrote which field. */
  #read(item: unknown): Resource | undefined {
    const { metadata } = (item ?? {}) as Partial<Resource>
    if (typeof metadata?.name !== 'string') return undefined
    const { managedFields: _, ...kept } = metadata as Resource['metadata'] & { managedFields?: unknown }
    const resource = {
      ...(item as Resource),
      apiVersion: apiVersionOf(this.#kind),
      kind: this.#kind.kind,
      metadata: kept,
    }
    return this.#options.keep === undefined ? resource : this.#options.keep(resource)
  }

  #selectors(): { labelSelector: string | undefined; fieldSelector: string | undefined } {
    return { labelSelector: this.#options.labelSelector, fieldSelector: this.#options.fieldSelector }
  }

  #accept(form: string): string {
    return this.#options.metadataOnly === true ? `application/json;as=${form};g=meta.k8s.io;v=v1` : 'application/json'
  }
}

interface List {
  items: readonly unknown[]
  metadata: { resourceVersion: string; continue?: string }
}

const PAGE_SIZE = 500
const LIST_LIMIT_MS = 120_000
const WATCH_SECONDS = 300
const GRACE_SECONDS = 30
const MISSING_MS = 5_000
const SHORT_MS = 1_000

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => undefined)
}

function asList(answer: unknown, path: string): List {
  const list = answer as Partial<List> | undefined
  if (typeof list?.metadata?.resourceVersion === 'string' && Array.isArray(list.items ?? [])) {
    return { metadata: list.metadata, items: list.items ?? [] }
  }
  throw new KubeError(`GET ${path}`, { message: 'the answer is no list' })
}

/** A list that is read anew has most objects as they were. */
function isSame(one: Resource | undefined, other: Resource): boolean {
  const { uid, resourceVersion } = other.metadata
  return (
    one !== undefined &&
    one.apiVersion === other.apiVersion &&
    resourceVersion !== undefined &&
    one.metadata.resourceVersion === resourceVersion &&
    one.metadata.uid === uid
  )
}
