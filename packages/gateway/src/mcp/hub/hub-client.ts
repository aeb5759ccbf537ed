import type { Hub, ProcessLink, ProcessSpec } from '../hub.ts'
import type { HubFromWorker, HubToWorker, Mark } from './hub-messages.ts'
import type { ProcessCalls } from './process-calls.ts'
import { contained } from '@portico/http/faults'
import { later } from '../../pipeline/compiled/later.ts'

interface HubClientOptions {
  post: (message: HubFromWorker) => void
  /** Milliseconds since 1970. */
  clock: () => number
}

// Loaded lazily: workers create the client before they know whether a config has MCP targets.
export const createProcessCalls = later(async () => {
  const made = await import('./process-calls.ts')
  return (...args: ConstructorParameters<typeof ProcessCalls>) => new made.ProcessCalls(...args)
})

/** The hub as seen by one worker: a copy of the shared state, and messages to the main thread. */
export class HubClient implements Hub {
  readonly #post: (message: HubFromWorker) => void
  // The main thread limits the number of entries.
  readonly #revoked: ExpiringMap
  readonly #renamed: ExpiringMap
  readonly #revoking = new Map<number, () => void>()
  readonly #listeners = new Map<number, (text: string) => void>()
  readonly #watchers = new Map<string, Set<() => void>>()
  readonly #sending = new Map<number, (isTaken: boolean) => void>()
  /** Null until the first call to a process. */
  #calls: ProcessCalls | null = null
  #lastId = 0

  constructor({ post, clock }: HubClientOptions) {
    this.#post = post
    this.#revoked = new ExpiringMap({ max: Infinity, clock })
    this.#renamed = new ExpiringMap({ max: Infinity, clock })
  }

  isRevoked(session: string): boolean {
    return this.#revoked.get(session) !== undefined
  }

  revoke(session: string, expiresAt: number): Promise<void> {
    this.#revoked.set({ key: session, value: '', expiresAt })
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#revoking.set(id, resolve)
      this.#post({ kind: 'revoke', id, session, expiresAt })
    })
  }

  targetSession(session: string, target: string): string | undefined {
    return this.#renamed.get(keyOf(session, target))
  }

  setTargetSession(session: string, target: string, name: string, expiresAt: number): void {
    const mark = { key: keyOf(session, target), value: name, expiresAt }
    this.#renamed.set(mark)
    this.#post({ kind: 'rename', mark })
  }

  listen(address: string, take: (text: string) => void): () => void {
    const listener = ++this.#lastId
    this.#listeners.set(listener, take)
    this.#post({ kind: 'listen', address, listener })
    return () => {
      if (this.#listeners.delete(listener)) this.#post({ kind: 'unlisten', address, listener })
    }
  }

  send(address: string, text: string): Promise<boolean> {
    const id = ++this.#lastId
    return new Promise((resolve) => {
      this.#sending.set(id, resolve)
      this.#post({ kind: 'send', id, address, text })
    })
  }

  announce(backend: string): void {
    this.#post({ kind: 'announce', backend })
  }

  whenChanged(backend: string, told: () => void): () => void {
    const watchers = this.#watchers.get(backend) ?? new Set()
    this.#watchers.set(backend, watchers.add(told))
    return () => {
      if (watchers.delete(told) && watchers.size === 0) this.#watchers.delete(backend)
    }
  }

  process(spec: ProcessSpec, session: string): ProcessLink {
    this.#calls ??= createProcessCalls((message) => this.#post({ kind: 'process', message }))
    return this.#calls.link(spec, session)
  }

  take(message: HubToWorker): void {
    switch (message.kind) {
      case 'known':
        for (const mark of message.revoked) this.#revoked.set(mark)
        for (const mark of message.renamed) this.#renamed.set(mark)
        return
      case 'revoked':
        this.#revoked.set(message.mark)
        return this.#post({ kind: 'acknowledge', ack: message.ack })
      case 'renamed':
        return this.#renamed.set(message.mark)
      case 'done':
        return contained('request', () => take(this.#revoking, message.id)?.())
      case 'mail': {
        const listener = this.#listeners.get(message.listener)
        this.#post({ kind: 'delivered', mail: message.mail, isTaken: listener !== undefined })
        return contained('request', () => listener?.(message.text))
      }
      case 'changed':
        for (const backend of message.backends)
          for (const told of [...(this.#watchers.get(backend) ?? [])]) contained('request', told)
        return
      case 'sent':
        return take(this.#sending, message.id)?.(message.isTaken)
      case 'said':
      case 'closed':
      case 'failed':
      case 'told':
        return contained('request', () => this.#calls?.take(message))
    }
  }
}

function take<V>(map: Map<number, V>, key: number): V | undefined {
  const value = map.get(key)
  map.delete(key)
  return value
}

/** Joins the two names; names of targets contain no line feed. */
function keyOf(session: string, target: string): string {
  return `${target}\n${session}`
}

/** A map of strings whose entries expire; the oldest entries are dropped when there are more than `max`. */
export class ExpiringMap {
  readonly #marks = new Map<string, Mark>()
  readonly #options: ExpiringMapOptions
  #sweepAt = FIRST_SWEEP

  constructor(options: ExpiringMapOptions) {
    this.#options = options
  }

  get(key: string): string | undefined {
    return this.#marks.get(key)?.value
  }

  set(mark: Mark): void {
    // Re-inserting moves the key to the end: the oldest entries are dropped first.
    this.#marks.delete(mark.key)
    this.#marks.set(mark.key, mark)
    if (this.#marks.size >= this.#sweepAt) this.#sweep()
    for (const oldest of this.#marks.keys()) {
      if (this.#marks.size <= this.#options.max) return
      this.#marks.delete(oldest)
      this.#options.dropped?.()
    }
  }

  all(): Mark[] {
    this.#sweep()
    return [...this.#marks.values()]
  }

  #sweep(): void {
    const now = this.#options.clock()
    for (const [key, { expiresAt }] of this.#marks) if (expiresAt <= now) this.#marks.delete(key)
    this.#sweepAt = Math.max(FIRST_SWEEP, 2 * this.#marks.size)
  }
}

interface ExpiringMapOptions {
  max: number
  /** Milliseconds since 1970. */
  clock: () => number
  /** Called when an entry was dropped before it expired. */
  dropped?: () => void
}

const FIRST_SWEEP = 256
