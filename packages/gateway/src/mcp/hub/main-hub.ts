import type { Logger } from '../../telemetry/log/logger.ts'
import type { HubFromWorker, HubToWorker, Mark, ProcessFromWorker } from './hub-messages.ts'
import { Mailboxes } from './mailboxes.ts'
import { ExpiringMap } from './hub-client.ts'
import type { Processes } from './processes/processes.ts'

interface MainHubOptions {
  log: Logger
  /** Milliseconds since 1970. */
  clock: () => number
  /** The most revoked sessions, and the most changed session ids of targets, to remember; the default is 100,000. */
  maxMarks?: number
}

/** The hub in the main thread: the MCP state that all workers share. */
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

  /** Adds a worker. Called before the worker gets its first config, so that its first request finds the session state. */
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

  /** Sets the hash of each backend's lists after a reload; workers are notified of existing backends that changed. */
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

  /** Ends the processes whose specs are not in the config any more; `contents` are those that are. */
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

  /** Loads the process code with the first message: most configs have no stdio targets. */
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
    this.#log.warn('too many session changes to remember, the oldest are dropped before they expire')
  }
}

/** A revocation that not all workers have acknowledged. */
interface Spreading {
  /** The worker that revoked the session. */
  readonly worker: number
  /** The worker's number of the revocation. */
  readonly id: number
  readonly unknownTo: Set<number>
}

const MAX_MARKS = 100_000
const WARN_EVERY_MS = 60_000
