import { keyOf, type Resource } from '@portico/translate'
import type { KubeClient } from './kube-client.ts'
import { KubeError } from './kube-error.ts'
import { type ApiKind, apiVersionOf, pathOf } from './kinds.ts'

/** Selects the objects of a kind, and the parts of them that are read. */
export interface ReadOptions {
  /** Limits requests to one namespace. */
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Whether only metadata is read. */
  metadataOnly?: boolean
  /** Reduces an object to the parts to keep; by default everything except `managedFields`. */
  keep?: (resource: Resource) => Resource
  pageSize?: number
  /** The shortest duration of a watch before the server ends it; the longest is twice as long. */
  watchSeconds?: number
}

/** The start of a watch. */
interface WatchStart {
  /** The resource version after which the watch begins. */
  version: string
  /** How long the server may take to open the watch. */
  limitMs: number
  opened: () => void
}

/** An event of a watch; a bookmark only has a version. */
interface WatchEvent {
  resource: Resource | null
  isGone: boolean
  version: string | undefined
}

/** Lists and watches one kind. */
export class KindReader {
  readonly #client: KubeClient
  readonly #kind: ApiKind
  readonly #options: ReadOptions
  readonly #path: string

  constructor(client: KubeClient, kind: ApiKind, options: ReadOptions) {
    this.#client = client
    this.#kind = kind
    this.#options = options
    const { namespace } = options
    this.#path = pathOf(kind, namespace === undefined ? {} : { namespace })
  }

  /** Lists all objects by key, page by page, and returns the version from which to watch. */
  async list(signal: AbortSignal): Promise<{ found: Map<string, Resource>; version: string }> {
    const found = new Map<string, Resource>()
    const accept = this.#accept('PartialObjectMetadataList')
    let page: List
    let next: string | undefined
    do {
      const query = { ...this.#selectors(), limit: this.#options.pageSize ?? PAGE_SIZE, continue: next }
      const answer = await this.#client.ask({ path: this.#path, query, signal, limitMs: LIST_LIMIT_MS, accept })
      page = asList(answer, this.#path)
      for (const item of page.items) {
        const resource = this.#read(item)
        if (resource !== null) found.set(keyOf(resource), resource)
      }
      next = page.metadata.continue || undefined
    } while (next !== undefined)
    return { found, version: page.metadata.resourceVersion }
  }

  /** Yields the events after a version, until the server ends the watch. */
  async *watch({ version, limitMs, opened }: WatchStart, signal: AbortSignal): AsyncGenerator<WatchEvent> {
    const seconds = Math.round((this.#options.watchSeconds ?? WATCH_SECONDS) * (1 + Math.random()))
    // The watch ends by itself when the server should have ended it long ago, because the connection may be dead.
    const overdue = AbortSignal.timeout((seconds + GRACE_SECONDS) * 1000)
    const query = {
      ...this.#selectors(),
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: version,
      timeoutSeconds: seconds,
    }
    const accept = this.#accept('PartialObjectMetadata')
    const ending = AbortSignal.any([signal, overdue])
    const events = this.#client.stream({ path: this.#path, query, signal: ending, accept, limitMs, opened })
    try {
      for await (const event of events) yield this.#event(event)
    } catch (error) {
      if (!overdue.aborted || signal.aborted) throw error
    }
  }

  #event(event: unknown): WatchEvent {
    const { type, object } = (event ?? {}) as { type?: unknown; object?: unknown }
    if (type === 'ERROR') {
      const { code, message, reason } = (object ?? {}) as { code?: number; message?: string; reason?: string }
      throw new KubeError(`WATCH ${this.#path}`, { status: code ?? 0, message: message ?? '', reason: reason ?? '' })
    }
    const version = (object as Resource | undefined)?.metadata?.resourceVersion
    return { resource: type === 'BOOKMARK' ? null : this.#read(object), isGone: type === 'DELETED', version }
  }

  /** Adds kind and version, which lists leave out, and drops `managedFields`. */
  #read(item: unknown): Resource | null {
    const { metadata } = (item ?? {}) as Partial<Resource>
    if (typeof metadata?.name !== 'string') return null
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

function asList(answer: unknown, path: string): List {
  const list = answer as Partial<List> | undefined
  if (typeof list?.metadata?.resourceVersion === 'string' && Array.isArray(list.items ?? [])) {
    return { metadata: list.metadata, items: list.items ?? [] }
  }
  throw new KubeError(`GET ${path}`, { message: 'response is not a list' })
}
