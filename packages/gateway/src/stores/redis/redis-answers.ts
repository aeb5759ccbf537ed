import { hash } from 'node:crypto'
import type { CalloutOutcome } from '../../telemetry/metrics/callout-metrics.ts'
import type {
  AnswerAddress,
  AnswerLimits,
  AnswerLookup,
  AnswerSelection,
  AnswerStore,
  StoreFigures,
  StorableAnswer,
} from '../answers/answer-store.ts'
import { type AnswerCodec, plainCodec, sealedCodec } from '../answers/answer-codec.ts'
import { type AnswerScripts, createAnswerScripts, ENTRY_OVERHEAD, MOST_STORED_BYTES } from './answer-scripts.ts'
import { type RedisClient, RedisUnavailable } from './redis-client.ts'
import { RedisFailure, type RedisReply } from './resp-reader.ts'

interface RedisAnswersParts {
  client: RedisClient
  /** Separates the keys of gateways that share a server, but no answers. */
  prefix: string
  scripts?: AnswerScripts
  /** The keys that encrypt answers, newest first. */
  sessionKeys(): readonly string[]
  /** Called with the duration of each lookup. */
  record(outcome: CalloutOutcome, milliseconds: number): void
  /** Called with each failure, and with null when Redis answers. */
  report(problem: string | null): void
  /** Called when Redis answers but refuses to store, because its memory or its disk is full, and with null when it stores. */
  reportStoring(problem: string | null): void
  /** Called with the outcome of storing an answer, and the number of answers that made room for it. */
  stored(isStored: boolean, evicted: number): void
}

/** Answers in Redis, which all gateways with the same server and prefix share. */
export class RedisAnswers implements AnswerStore {
  readonly #parts: RedisAnswersParts
  readonly #scripts: AnswerScripts
  /** The encrypted form with the keys that it was made for. */
  #sealed: { readonly keys: readonly string[]; readonly codec: AnswerCodec } | null = null
  /** Bytes of answers that are on their way to Redis. */
  #sending = 0

  constructor(parts: RedisAnswersParts) {
    this.#parts = parts
    this.#scripts = parts.scripts ?? createAnswerScripts()
  }

  async get(address: AnswerAddress, isEncrypted: boolean): Promise<AnswerLookup> {
    const { labels, cache } = address
    const { model, apiKey } = labels
    const keys = [
      `${this.#cacheKey(address)}a:${address.key}`,
      ...(['all', { cache }, { model }, { apiKey }] as const).map((selection) => this.#marker(selection)),
    ]
    const startedAt = performance.now()
    try {
      const reply = await this.#run(['EVALSHA', this.#scripts.get.sha, String(keys.length), ...keys])
      const [text, ageMs, since] = Array.isArray(reply) ? (reply as readonly RedisReply[]) : []
      if (typeof text !== 'string' || typeof ageMs !== 'number' || typeof since !== 'number') throw unknownReply()
      this.#parts.record('answered', performance.now() - startedAt)
      const answer = text === '' ? null : this.#codec(isEncrypted).decode(address.key, text)
      if (answer === null) return { kind: 'absent', purgedMsAgo: since < 0 ? null : since }
      return { kind: 'found', answer, ageMs }
    } catch (error) {
      const isTimeout = error instanceof RedisUnavailable && error.isTimeout
      this.#parts.record(isTimeout ? 'timeout' : 'failed', performance.now() - startedAt)
      return { kind: 'unavailable' }
    }
  }

  put(address: AnswerAddress, answer: StorableAnswer, { ttlMs, maxBytes, isEncrypted }: AnswerLimits): void {
    if (answer.body.length > MOST_STORED_BYTES) return this.#parts.stored(false, 0)
    const text = this.#codec(isEncrypted).encode(address.key, answer)
    const bytes = Buffer.byteLength(text)
    // A store that is slow does not fill the memory of the gateway.
    const fits = bytes <= MOST_STORED_BYTES && bytes + ENTRY_OVERHEAD <= maxBytes / ANSWERS_AT_LEAST
    if (!fits || this.#sending + bytes > MOST_SENDING_BYTES) return this.#parts.stored(false, 0)
    this.#sending += bytes
    const values = [
      this.#cacheKey(address),
      address.key,
      shortHash(address.scope),
      text,
      String(ttlMs),
      String(maxBytes),
    ]
    this.#run(['EVALSHA', this.#scripts.put.sha, '0', ...values])
      .then((reply) => {
        this.#parts.reportStoring(null)
        const [isStored, evicted] = Array.isArray(reply) ? (reply as readonly RedisReply[]) : []
        this.#parts.stored(isStored === 1, typeof evicted === 'number' ? evicted : 0)
      })
      .catch((error: unknown) => {
        if (error instanceof WriteRefused) this.#parts.reportStoring(error.message)
        this.#parts.stored(false, 0)
      })
      .finally(() => (this.#sending -= bytes))
  }

  async purge(selection: AnswerSelection): Promise<boolean> {
    try {
      return (await this.#run(['EVALSHA', this.#scripts.purge.sha, '1', this.#marker(selection)])) === 1
    } catch {
      return false
    }
  }

  async figures(cache: string): Promise<StoreFigures | null> {
    try {
      const reply = await this.#run(['EVALSHA', this.#scripts.figures.sha, '0', this.#cacheKey({ cache })])
      const [entries, scopes, bytes] = Array.isArray(reply) ? (reply as readonly RedisReply[]) : []
      if (typeof entries !== 'number' || typeof scopes !== 'number' || typeof bytes !== 'number') return null
      return { entries: entries < 0 ? null : entries, scopes, bytes }
    } catch {
      return null
    }
  }

  close(): void {
    this.#parts.client.close()
  }

  #cacheKey({ cache }: Pick<AnswerAddress, 'cache'>): string {
    return `${this.#parts.prefix}:cache:${shortHash(cache)}:`
  }

  /** Names of keys and models stay out of Redis. */
  #marker(selection: AnswerSelection): string {
    return `${this.#parts.prefix}:cache-purged:${selection === 'all' ? 'all' : shortHash(selectionText(selection))}`
  }

  #codec(isEncrypted: boolean): AnswerCodec {
    if (!isEncrypted) return plainCodec
    const keys = this.#parts.sessionKeys()
    if (this.#sealed?.keys !== keys) this.#sealed = { keys, codec: sealedCodec(keys) }
    return this.#sealed.codec
  }

  /** Rejects with `RedisUnavailable` when the command failed, or with `WriteRefused`. */
  async #run(command: readonly string[]): Promise<RedisReply> {
    const { client } = this.#parts
    try {
      const reply = await client.call(command)
      if (!(reply instanceof RedisFailure)) {
        this.#parts.report(null)
        return reply
      }
      const problem = `Redis answered ${reply.code}`
      if (REFUSES_WRITES.has(reply.code)) throw new WriteRefused(problem)
      if (NEEDS_CONNECTION.has(reply.code)) client.reset(problem)
      throw new RedisUnavailable(problem, { wasSent: true })
    } catch (error) {
      const isRefused = error instanceof WriteRefused
      this.#parts.report(isRefused ? null : error instanceof Error ? error.message : String(error))
      throw error
    }
  }
}

function selectionText(selection: Exclude<AnswerSelection, 'all'>): string {
  if ('cache' in selection) return `cache ${selection.cache}`
  return 'model' in selection ? `model ${selection.model}` : `key ${selection.apiKey}`
}

function unknownReply(): RedisUnavailable {
  return new RedisUnavailable('Redis answered something unknown', { wasSent: true })
}

function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 32)
}

/** Redis works, but stores nothing. */
class WriteRefused extends Error {}

/** Errors of a server whose memory, or whose disk, is full. */
const REFUSES_WRITES = new Set(['OOM', 'MISCONF'])
/** Errors that another connection mends: it loads the scripts, and may reach another server. */
const NEEDS_CONNECTION = new Set(['NOSCRIPT', 'NOAUTH', 'READONLY', 'MASTERDOWN'])
const ANSWERS_AT_LEAST = 8
const MOST_SENDING_BYTES = 16 * 1024 * 1024
