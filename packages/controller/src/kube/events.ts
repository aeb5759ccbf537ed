import { createHash } from 'node:crypto'
import type { Resource } from '@portico/translate'
import type { KubeClient } from './kube-client.ts'
import { isStatus } from './kube-error.ts'
import { type ApiKind, pathOf } from './kinds.ts'
import { createObject } from './objects.ts'

const EVENT: ApiKind = { group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true }

export interface Happening {
  about: Resource
  type: 'Normal' | 'Warning'
  /** One word in CamelCase, such as `Rejected`. */
  reason: string
  message: string
}

interface EventEntry {
  name: string
  count: number
  writtenAt: number
  /** The write under way; one at a time per Event. */
  writing: Promise<void>
}

/** Writes Kubernetes Events, as `kubectl describe` shows them. A repeated Event only raises its count. */
export class Events {
  readonly #client: KubeClient
  readonly #component: string
  readonly #onError: (error: unknown) => void
  readonly #known = new Map<string, EventEntry>()

  constructor(client: KubeClient, component: string, onError: (error: unknown) => void) {
    this.#client = client
    this.#component = component
    this.#onError = onError
  }

  /** Never fails, because a lost Event does no harm. Resolves when the Event is written. */
  record(happening: Happening): Promise<void> {
    const { about, type, reason, message } = happening
    const id = JSON.stringify([about.kind, about.metadata.uid ?? about.metadata.name, type, reason, message])
    const known = this.#known.get(id)
    const now = performance.now()
    if (known === undefined || now - known.writtenAt > FORGET_MS) {
      const name = `${about.metadata.name.slice(0, 200)}.${createHash('sha256')
        .update(id + Date.now())
        .digest('hex')
        .slice(0, 16)}`
      const fresh: EventEntry = { name, count: 1, writtenAt: now, writing: this.#create(name, happening) }
      this.#remember(id, fresh)
      return fresh.writing
    }
    known.count += 1
    if (now - known.writtenAt < QUIET_MS) return known.writing
    known.writtenAt = now
    known.writing = known.writing.then(() => this.#count(namespaceOf(about), known))
    return known.writing
  }

  async #create(name: string, { about, type, reason, message }: Happening): Promise<void> {
    const { kind, apiVersion, metadata } = about
    const now = new Date().toISOString()
    const namespace = namespaceOf(about)
    const { uid, resourceVersion } = metadata
    const event = {
      metadata: { name, namespace },
      involvedObject: { apiVersion, kind, name: metadata.name, namespace: metadata.namespace, uid, resourceVersion },
      type,
      reason,
      message: message.length > MOST_TEXT ? `${message.slice(0, MOST_TEXT - 1)}…` : message,
      source: { component: this.#component },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    }
    await createObject(this.#client, EVENT, event).catch(this.#onError)
  }

  async #count(namespace: string, { name, count }: EventEntry): Promise<void> {
    const path = pathOf(EVENT, { namespace, name })
    const body = { count, lastTimestamp: new Date().toISOString() }
    const contentType = 'application/merge-patch+json'
    await this.#client.ask({ method: 'PATCH', path, contentType, body }).catch((error: unknown) => {
      // The server deletes Events after an hour.
      if (!isStatus(error, 404)) this.#onError(error)
    })
  }

  #remember(id: string, known: EventEntry): void {
    this.#known.delete(id)
    this.#known.set(id, known)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }
}

const MOST_TEXT = 1024
const MOST_KNOWN = 1024
/** A repeated Event is counted in memory, and written at most this often. */
const QUIET_MS = 10_000
const FORGET_MS = 600_000

/** Events of cluster-scoped objects go to the default namespace. */
function namespaceOf({ metadata }: Resource): string {
  return metadata.namespace ?? 'default'
}
