import { readJsonTree } from '@portico/http/json'
import { SseData } from '@portico/http/sse'
import type { FoundText, NativeTexts, TextStep } from '@portico/chat'
import { type GuardChain, TextPipes } from '../chain.ts'
import { nowOrLater } from '../../../pipeline/call/follow.ts'
import type { ExchangeContext, GuardNote, Rejection } from '../guard.ts'
import { guardWholeTexts, infoOf, NativeEdits, type NativeText } from './native-edits.ts'
import { failedClosed } from '../rejection.ts'
import { TextChannel } from './text-channel.ts'

interface QueuedRecord {
  bytes: Buffer
  data: SseData
  /** Null when the record has no text. */
  edits: NativeEdits | null
}

/**
 * Guards a stream that is forwarded in its original format: texts are edited in place, and every other byte stays.
 * Records keep their order; a record waits until the guards have released all its texts.
 */
export class RecordGuard {
  /** Set when the response was rejected; no records follow. */
  rejection: Rejection | null = null
  /** The reason why the rest of the stream cannot be guarded. */
  failure: string | null = null
  readonly #chain: GuardChain
  readonly #context: ExchangeContext
  readonly #texts: NativeTexts
  readonly #pipes: TextPipes
  readonly #channels = new Map<string, TextChannel>()
  /** Names of texts that were masked at least in part. */
  readonly #masked = new Set<string>()
  /** Whole texts that were already guarded, with their masked form. */
  readonly #known = new Map<string, string>()
  #queue: QueuedRecord[] = []
  #queuedBytes = 0

  constructor(chain: GuardChain, context: ExchangeContext, texts: NativeTexts) {
    this.#chain = chain
    this.#context = context
    this.#texts = texts
    this.#pipes = new TextPipes(chain, context)
  }

  /** One note per guard. */
  get notes(): readonly GuardNote[] {
    return this.#pipes.notes
  }

  /**
   * Returns the records that the client may see. While the result is a pending promise, `push` must not be called
   * again.
   */
  push(records: readonly Buffer[]): Buffer[] | Promise<Buffer[]> {
    // Records may be views of a buffer that the next read overwrites.
    const copies = records.map((record) => Buffer.from(record))
    return nowOrLater(this.#takeFrom(copies, 0), () => this.#drain())
  }

  /** Returns the records that still wait. */
  end(): Buffer[] | Promise<Buffer[]> {
    return nowOrLater(this.#endTexts('', []), () => this.#drain())
  }

  get #isOver(): boolean {
    return this.rejection !== null || this.failure !== null
  }

  #takeFrom(records: readonly Buffer[], first: number): void | Promise<void> {
    for (const [index, record] of records.entries()) {
      if (index < first) continue
      if (this.#isOver) return
      const taken = this.#take(record)
      if (taken instanceof Promise) return taken.then(() => this.#takeFrom(records, index + 1))
    }
  }

  #take(bytes: Buffer): void | Promise<void> {
    const data = new SseData(bytes.toString('utf8'))
    const record: QueuedRecord = { bytes, data, edits: null }
    this.#queue.push(record)
    this.#queuedBytes += bytes.length
    if (this.#queuedBytes > MAX_QUEUED_BYTES)
      return this.#fail('the provider sent more bytes than the gateway queues for guards')
    if (data.text === '') return
    if (data.text === '[DONE]') return this.#endTexts('', [])
    const root = readJsonTree(data.text)
    if (root === null) return this.#fail('the provider sent a stream that cannot be read')
    const edits = new NativeEdits(data.text)
    record.edits = edits
    const steps = this.#texts.record(root)
    const followed = nowOrLater(this.#follow(steps, 0, edits), () => this.#guardWholes(steps, edits))
    return nowOrLater(followed, () => {
      // Some texts of the record were not checked.
      if (this.rejection !== null) this.#queue.pop()
    })
  }

  /** Stops guarding; earlier records are still sent as far as the guards release them. */
  #fail(why: string): void | Promise<void> {
    this.#queue.pop()
    this.failure = why
    return this.#endTexts('', [])
  }

  /** Guards texts that continue across records, one after the other. */
  #follow(steps: readonly TextStep[], first: number, edits: NativeEdits): void | Promise<void> {
    for (const [index, step] of steps.entries()) {
      if (index < first || this.rejection !== null) continue
      const done = this.#step(step, edits)
      if (done instanceof Promise) return done.then(() => this.#follow(steps, index + 1, edits))
    }
  }

  #step(step: TextStep, edits: NativeEdits): void | Promise<void> {
    if (step.do === 'depend') return edits.addDependent(step)
    if (step.do === 'end') return this.#endTexts(step.of, step.but)
    if (step.isWhole) return
    const { name } = step
    let channel = this.#channels.get(name)
    if (channel === undefined) {
      channel = new TextChannel(step.form, this.#pipes.create(infoOf(step)), this.#texts.repeats)
      this.#channels.set(name, channel)
    }
    const { isMasked } = channel
    return nowOrLater(channel.push(edits.addText(step)), (rejection) => {
      if (rejection !== null) this.rejection ??= rejection
      if (!isMasked && channel.isMasked) this.#masked.add(name)
    })
  }

  #endTexts(of: string, but: readonly string[]): void | Promise<void> {
    for (const [name, channel] of this.#channels) {
      if (!name.startsWith(of) || but.some((open) => name.startsWith(open))) continue
      this.#channels.delete(name)
      const ended = nowOrLater(channel.end(), (rejection) => {
        if (rejection !== null) this.rejection ??= rejection
        if (channel.isMasked) this.#masked.add(name)
        if (channel.whole !== null) this.#know(keyOf(channel, channel.whole.read), channel.whole.written)
      })
      if (ended instanceof Promise) return ended.then(() => this.#endTexts(of, but))
    }
  }

  /** Guards texts that came whole: each guard is called once for all texts that it has not seen yet. */
  #guardWholes(steps: readonly TextStep[], edits: NativeEdits): void | Promise<void> {
    if (this.rejection !== null) return
    const texts = steps
      .filter((step) => step.do === 'text')
      .filter(({ isWhole }) => isWhole)
      .map((step) => edits.addText(step))
    const unknown = texts.filter((text) => !this.#repeat(text))
    return nowOrLater(guardWholeTexts(this.#chain, unknown, this.#context), ({ rejection, notes }) => {
      for (const note of notes) this.#pipes.addNote(note)
      this.rejection ??= rejection
      for (const text of texts) if (text.isChanged) this.#masked.add(text.found.name)
      for (const text of unknown) this.#know(keyOf(text.found, text.read), text.written)
    })
  }

  #repeat(text: NativeText): boolean {
    const known = text.read === '' ? '' : this.#known.get(keyOf(text.found, text.read))
    if (known !== undefined) text.replace(known)
    return known !== undefined
  }

  #know(key: string, written: string): void {
    if (this.#known.size >= MAX_KNOWN) for (const oldest of this.#known.keys().take(1)) this.#known.delete(oldest)
    this.#known.set(key, written)
  }

  #drain(): Buffer[] {
    const out: Buffer[] = []
    for (;;) {
      const record = this.#queue[0]
      if (record === undefined || record.edits?.isSettled === false) break
      const written = this.#write(record)
      if (written === null) {
        this.rejection = failedClosed('masking would make the JSON of a part invalid')
        break
      }
      out.push(written)
      this.#queue.shift()
      this.#queuedBytes -= record.bytes.length
    }
    if (this.#isOver) this.#queue = []
    return out
  }

  #write({ bytes, data, edits }: QueuedRecord): Buffer | null {
    const json = edits === null ? data.text : edits.write(this.#masked)
    if (json === null) return null
    return json === data.text ? bytes : Buffer.from(data.replaced(json))
  }
}

/** The key of a guarded text includes its form, because a text masked as one form may pass as the other. */
function keyOf({ form }: Pick<FoundText, 'form'>, read: string): string {
  return `${form} ${read}`
}

const MAX_QUEUED_BYTES = 16 * 1024 * 1024
const MAX_KNOWN = 1024
