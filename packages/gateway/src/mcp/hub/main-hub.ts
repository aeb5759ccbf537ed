import type { Logger } from '../../telemetry/log/logger.ts'
import type { HubFromWorker, HubToWorker, Mark, ProcessFromWorker } from './hub-messages.ts'
import { Mailboxes } from './mailboxes.ts'
import { ExpiringMap } from './expiring-map.ts'
import type { Processes } from './processes/processes.ts'

export interface MainHubOptions {
  log: Logger
  /** Milliseconds since 1970. */
  clock: () => number
  /** Most sessions that are known to be revoked, and most that were started anew; 100,000 when left out. */
  maxMarks?: number
}

/** What workers share for MCP, as the main thread keeps it. */
export class MainHub {
  readonly #log: Logger
  readonly #workers = new Map<number, (message: HubToWorker) => void>()
  readonly #mailboxes = new Mailboxes(this.#workers)
  readonly #revoked: ExpiringMap
  readonly #renamed: ExpiringMap
  readonly #spreading = new Map<number, Spreading>()
  #offers: ReadonlyMap<string, string> = new Map()
  #lastAck = 0
  #processes: Processes | null = null
  #loading: Promise<void> | null = null
  #warnedAt = -Infinity

  constructor({ log, clock, maxMarks = MAX_MARKS }: MainHubOptions) {
    this.#log = log
    const options = { max: maxMarks, clock, dropped: () => this.#warnOfDropped(clock()) }
    this.#revoked = new ExpiringMap(options)
    this.#renamed = new ExpiringMap(options)
  }

  /** Before the worker gets its first config, so that it knows what became of a session when its first request comes. */
  born(worker: number, post: (message: HubToWorker) => void): void {
    this.#workers.set(worker, post)
    const [revoked, renamed] = [this.#revoked.all(), this.#renamed.all()]
    if (revoked.length + renamed.length > 0) post({ kind: 'known', revoked, renamed })
  }

  died(worker: number): void {
    this.#workers.delete(worker)
    this.#mailboxes.died(worker)
    for (const ack of this.#spreading.keys()) this.#acknowledged(worker, ack)
    if (this.#loading !== null) void this.#loading.then(() => this.#processes?.died(worker))
  }

  received(worker: number, message: HubFromWorker): void {
    switch (message.kind) {
      case 'revoke':
        return this.#revoke(worker, message.id, { key: message.session, value: '', expiresAt: message.expiresAt })
      case 'acknowledge':
        return this.#acknowledged(worker, message.ack)
      case 'rename':
        this.#renamed.set(message.mark)
        for (const [other, post] of this.#workers) if (other !== worker) post({ kind: 'renamed', mark: message.mark })
        return
      case 'listen':
        return this.#mailboxes.listen(worker, message.address, message.listener)
      case 'unlisten':
        return this.#mailboxes.unlisten(worker, message.address, message.listener)
      case 'send':
        return this.#mailboxes.send(worker, message.id, message.address, message.text)
      case 'delivered':
        return this.#mailboxes.delivered(message.mail, message.isTaken)
      case 'announce':
        return this.#tellChanged([message.backend])
      case 'process':
        return this.#processed(worker, message.message)
    }
  }

  /** A hash of what each backend offers from now on; workers hear of those that were there before and differ. */
  offers(contents: ReadonlyMap<string, string>): void {
    const before = this.#offers
    this.#offers = contents
    const backends = [...contents].flatMap(([backend, content]) =>
      before.has(backend) && before.get(backend) !== content ? backend : [],
    )
    if (backends.length > 0) this.#tellChanged(backends)
  }

  #tellChanged(backends: string[]): void {
    for (const post of this.#workers.values()) post({ kind: 'changed', backends })
  }

  /** Contents of all specs that the config has: processes of others end. */
  async keepProcesses(contents: ReadonlySet<string>): Promise<void> {
    await this.#loading
    this.#processes?.keep(contents)
  }

  /** Ends every process; resolves when none is left. */
  async close(): Promise<void> {
    await this.#loading
    await this.#processes?.close()
  }

  #revoke(worker: number, id: number, mark: Mark): void {
    this.#revoked.set(mark)
    const ack = ++this.#lastAck
    this.#spreading.set(ack, { worker, id, unknownTo: new Set(this.#workers.keys()) })
    for (const post of this.#workers.values()) post({ kind: 'revoked', mark, ack })
  }

  #acknowledged(worker: number, ack: number): void {
    const spreading = this.#spreading.get(ack)
    if (spreading === undefined) return
    spreading.unknownTo.delete(worker)
    if (spreading.unknownTo.size > 0) return
    this.#spreading.delete(ack)
    this.#workers.get(spreading.worker)?.({ kind: 'done', id: spreading.id })
  }

  /** Whoever has no programs of its own as targets does not pay for them. */
  #processed(worker: number, message: ProcessFromWorker): void {
    this.#loading ??= import('./processes/processes.ts').then((module) => {
      this.#processes = new module.Processes(this.#log)
    })
    if (this.#processes === null) {
      void this.#loading.then(() => this.#processes?.received(worker, message, this.#poster(worker)))
      return
    }
    this.#processes.received(worker, message, this.#poster(worker))
  }

  #poster(worker: number): (message: HubToWorker) => void {
    return (message) => this.#workers.get(worker)?.(message)
  }

  #warnOfDropped(now: number): void {
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#log.warn('too many sessions ended or started anew, the oldest are forgotten before they expire')
  }
}

/** A revocation on its way to all workers. */
interface Spreading {
  /** Who asked, and its number of it. */
  readonly worker: number
  readonly id: number
  readonly unknownTo: Set<number>
}

const MAX_MARKS = 100_000
const WARN_EVERY_MS = 60_000
