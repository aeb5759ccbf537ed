import type { Hub, ProcessLink, ProcessSpec } from '../hub.ts'
import type { HubFromWorker, HubToWorker } from './hub-messages.ts'
import { ExpiringMap } from './expiring-map.ts'
import type { ProcessCalls } from './process-calls.ts'
import { contained } from '@portico/http/faults'
import { later } from '../../pipeline/compiled/later.ts'

export interface HubClientOptions {
  post: (message: HubFromWorker) => void
  /** Milliseconds since 1970. */
  clock: () => number
}

// Workers have the client before they know whether a config has MCP servers.
export const createProcessCalls = later(async () => {
  const made = await import('./process-calls.ts')
  return (...args: ConstructorParameters<typeof ProcessCalls>) => new made.ProcessCalls(...args)
})

/** What workers share for MCP, as one worker sees it. */
export class HubClient implements Hub {
  readonly #post: (message: HubFromWorker) => void
  /** The main thread bounds them. */
  readonly #revoked: ExpiringMap
  readonly #renamed: ExpiringMap
  readonly #revoking = new Map<number, () => void>()
  readonly #listeners = new Map<number, (text: string) => void>()
  readonly #watchers = new Map<string, Set<() => void>>()
  readonly #sending = new Map<number, (isTaken: boolean) => void>()
  /** Null before the first. */
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
    return this.#renamed.get(placeOf(session, target))
  }

  setTargetSession(session: string, target: string, name: string, expiresAt: number): void {
    const mark = { key: placeOf(session, target), value: name, expiresAt }
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

/** Names of targets hold no line feed. */
function placeOf(session: string, target: string): string {
  return `${target}\n${session}`
}
