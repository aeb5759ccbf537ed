import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../telemetry/log/logger.ts'

interface KeptOptions {
  folder: string
  /** Session keys, newest first: the first key encrypts, all keys decrypt. */
  keys: readonly string[]
  /** `namespace/name`. A file stored for another Gateway does not open. */
  gateway: string
  log: Logger
  /** Milliseconds between two writes. */
  gapMs?: number
}

/** The encrypted files, in the order in which they are written. */
const FILES = { endpoints: 'controller-endpoints.sealed', config: 'controller-config.sealed' } as const
type Part = keyof typeof FILES

/** The last good config on disk. It is encrypted because it contains secrets. */
export class KeptConfig {
  readonly #options: KeptOptions
  readonly #keys: Buffer[]
  /** The parts to write; each function returns the contents when the part is written. */
  readonly #waiting = new Map<Part, () => unknown>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | null = null
  #writtenAt = -Infinity
  #lastProblem = ''

  constructor(options: KeptOptions) {
    this.#options = options
    this.#keys = options.keys.map((key) =>
      Buffer.from(hkdfSync('sha256', Buffer.from(key, 'hex'), '', 'portico kept config', 32)),
    )
  }

  /** Returns the stored part; undefined when there is no file, or none that the keys open. */
  read(part: Part): unknown {
    const file = this.#file(part)
    let bytes: Buffer
    try {
      bytes = readFileSync(file)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) this.#warn('not read', file, error)
      return undefined
    }
    const text = this.#open(part, bytes)
    if (text === null)
      this.#warn('ignored', file, 'it is damaged, or was sealed with another key or for another Gateway')
    return text === null ? undefined : (JSON.parse(text) as unknown)
  }

  /** Schedules a write. Only the newest contents are written, so frequent changes cause fewer writes. */
  keep(part: Part, make: () => unknown): void {
    this.#waiting.set(part, make)
    if (this.#writing === null) this.#flushLater()
  }

  #flushLater(): void {
    const { gapMs = 2_000 } = this.#options
    const pauseMs = Math.max(FIRST_PAUSE_MS, this.#writtenAt + gapMs - performance.now())
    this.#timer ??= setTimeout(() => void this.flush(), pauseMs).unref()
  }

  /** Writes the scheduled parts. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#writing !== null) await this.#writing
    if (this.#waiting.size === 0) return
    this.#writing = this.#writeAll()
    await this.#writing
    this.#writing = null
    this.#writtenAt = performance.now()
    if (this.#waiting.size > 0) this.#flushLater()
  }

  async #writeAll(): Promise<void> {
    // Endpoints come first, because a config without its addresses is useless.
    for (const part of Object.keys(FILES) as Part[]) {
      const make = this.#waiting.get(part)
      this.#waiting.delete(part)
      if (make === undefined) continue
      try {
        await this.#write(this.#file(part), this.#seal(part, JSON.stringify(make())))
        this.#lastProblem = ''
      } catch (error) {
        this.#warn('not written', this.#file(part), error)
      }
    }
  }

  /** Writes atomically: a new file replaces the old file by a rename. */
  async #write(file: string, bytes: Buffer): Promise<void> {
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 })
    const handle = await open(`${file}.new`, 'w', 0o600)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(`${file}.new`, file)
  }

  #seal(part: Part, text: string): Buffer {
    const [key] = this.#keys
    if (key === undefined) throw new Error('there is no session key')
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(this.#about(part))
    const sealed = [cipher.update(text, 'utf8'), cipher.final()]
    return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed])
  }

  #open(part: Part, bytes: Buffer): string | null {
    const [start, body] = [bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES + TAG_BYTES)]
    for (const key of this.#keys) {
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, start, { authTagLength: TAG_BYTES })
        decipher.setAAD(this.#about(part)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
      } catch {
        continue
      }
    }
    return null
  }

  #about(part: Part): Buffer {
    return Buffer.from(`${part}\0${this.#options.gateway}`)
  }

  #file(part: Part): string {
    return join(this.#options.folder, FILES[part])
  }

  #warn(what: string, file: string, cause: unknown): void {
    const text = cause instanceof Error ? cause.message : String(cause)
    if (text !== this.#lastProblem) this.#options.log.warn(`stored config ${what}`, { file, cause: text })
    this.#lastProblem = text
  }
}

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Changes that follow within this time are written together. */
const FIRST_PAUSE_MS = 50
