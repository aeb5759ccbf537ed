import { Worker } from 'node:worker_threads'
import type { Logger } from '../telemetry/log/logger.ts'
import type { Collector } from '../telemetry/metrics/metrics-collect.ts'
import type {
  FromKeyThread,
  KeyAnswer,
  KeyAnswers,
  KeyQuestion,
  KeyRefusal,
  KeyStoreState,
  KeyThreadSettings,
  ToKeyThread,
} from './key-messages.ts'
import { FAILED } from './table/key-table.ts'
import { KeyTableWriter } from './table/key-table-writer.ts'
import { NO_ROOM } from './registry-parts.ts'

/** The answer to one kind of question. */
type AnswerTo<Ask extends KeyQuestion['ask']> = { readonly value: KeyAnswers[Ask] } | { readonly refused: KeyRefusal }

/** The store of keys as the main thread sees it. A thread that dies is replaced, and fills the table of the workers anew. */
export class Keys {
  readonly #settings: KeyThreadSettings
  readonly #log: Logger
  /** Null from the death of a thread to the start of the next one. */
  #thread: Worker | null
  readonly #asked = new Map<number, (answer: KeyAnswer) => void>()
  #questions = 0
  #state: KeyStoreState = { problem: 'the store is being opened', entries: 0, validUntil: null }
  #loggedAt = -Infinity
  readonly #opened = Promise.withResolvers<void>()
  #closing: (() => void) | null = null

  constructor(settings: KeyThreadSettings, collector: Collector, log: Logger) {
    this.#settings = settings
    this.#log = log
    this.#thread = this.#start()
    setTimeout(() => this.#opened.resolve(), OPEN_MS).unref()
    collector.provide('key_store_up', [], () => (this.#state.problem === null ? 1 : 0))
    collector.provide('key_store_entries', [], () => this.#state.entries)
  }

  /** Resolves when the keys are there, or cannot be read, or after a time limit. */
  get opened(): Promise<void> {
    return this.#opened.promise
  }

  /** The table that the workers read. */
  get table(): SharedArrayBuffer {
    return this.#settings.table
  }

  get state(): KeyStoreState {
    return this.#state
  }

  /** Resolves with the answer, or with the reason why there is none. */
  ask<Ask extends KeyQuestion['ask']>(question: KeyQuestion & { readonly ask: Ask }): Promise<AnswerTo<Ask>> {
    if (this.#closing !== null || this.#thread === null) return Promise.resolve({ refused: THREAD_GONE })
    const id = this.#questions++
    const { promise, resolve } = Promise.withResolvers<KeyAnswer>()
    this.#asked.set(id, resolve)
    this.#post({ type: 'ask', id, question })
    // The thread answers each question with the type that belongs to it.
    return promise as Promise<AnswerTo<Ask>>
  }

  /** Resolves when everything that was asked is done, or after a time limit. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#closing = resolve
      if (this.#thread === null) return resolve()
      this.#post({ type: 'close' })
      setTimeout(resolve, CLOSE_MS).unref()
    })
    await this.#thread?.terminate()
  }

  #start(): Worker {
    const isSource = import.meta.url.endsWith('.ts')
    const thread = new Worker(new URL(isSource ? './key-thread.ts' : '../key-store.js', import.meta.url), {
      workerData: this.#settings,
      name: 'key-store',
    })
    thread.on('message', (message: FromKeyThread) => this.#take(message))
    thread.on('error', (error: unknown) => this.#log.error('key store thread died', { error: String(error) }))
    thread.on('exit', () => this.#exited())
    return thread
  }

  #take(message: FromKeyThread): void {
    if (message.type === 'answered') {
      this.#asked.get(message.id)?.(message.answer)
      this.#asked.delete(message.id)
      return
    }
    if (message.type === 'full') return this.#log.error('keys of other gateways are refused', { error: NO_ROOM })
    const { problem, entries, validUntil } = message
    this.#logState(this.#state, message)
    this.#state = { problem, entries, validUntil }
    this.#opened.resolve()
  }

  /** Logs what has changed for clients, and other reasons once a minute. */
  #logState(before: KeyStoreState, { problem, entries, validUntil }: KeyStoreState): void {
    if (problem === null) {
      if (before.problem !== null) this.#log.info('key store open', { entries })
      return
    }
    const isGrace = validUntil !== null
    const isSame = before.problem !== null && isGrace === (before.validUntil !== null)
    if (isSame && (problem === before.problem || performance.now() - this.#loggedAt < REPORT_MS)) return
    this.#loggedAt = performance.now()
    if (!isGrace) return this.#log.error('key store failed, its keys are refused', { error: problem })
    const until = new Date(validUntil).toISOString()
    this.#log.error('key store failed, only keys that are loaded are accepted', { error: problem, until })
  }

  #exited(): void {
    this.#thread = null
    for (const answer of this.#asked.values()) answer({ refused: THREAD_GONE })
    this.#asked.clear()
    this.#state = { problem: THREAD_GONE.message, entries: 0, validUntil: null }
    this.#opened.resolve()
    if (this.#closing !== null) return this.#closing()
    // The thread may have died in the middle of a change.
    new KeyTableWriter(this.#settings.table, this.#settings.maxKeys, FAILED).setState(FAILED)
    setTimeout(() => this.#restart(), RESTART_MS).unref()
  }

  #restart(): void {
    if (this.#closing === null) this.#thread = this.#start()
  }

  #post(message: ToKeyThread): void {
    this.#thread?.postMessage(message)
  }
}

const THREAD_GONE: KeyRefusal = { status: 503, message: 'the thread of the key store has ended' }
/** A gateway that waits longer for its keys serves what needs none. */
const OPEN_MS = 15_000
const RESTART_MS = 1_000
const REPORT_MS = 60_000
const CLOSE_MS = 5_000
