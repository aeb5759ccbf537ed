import { parseJsonObject } from '@portico/http/json'
import type { ChatEvent, JsonObject, StartedPart, Usage } from '@portico/chat'
import type { GuardNote, Rejection, TextInfo } from '../guard.ts'
import { nowOrLater } from '../../../pipeline/call/follow.ts'
import { joinPassages } from '../passage.ts'
import { errorOf, failedClosed } from '../rejection.ts'
import type { Release, Stage, StageFactory } from '../stage.ts'

type PartStart = Extract<ChatEvent, { type: 'partStart' }>
type PartEnd = Extract<ChatEvent, { type: 'partEnd' }>
type NativeStart = Extract<StartedPart, { type: 'native' }>

/**
 * Sends every text of a response through its own stage: text, refusals, reasoning, tool arguments, and native parts.
 * Other events keep their position, but usage waits for texts that came before it.
 */
export class EventGuard {
  /** Set when the response was rejected; nothing follows its error event. */
  rejection: Rejection | null = null
  readonly #stages: StageFactory
  readonly #parts = new Map<number, OpenPart>()
  #usage: Usage | null = null
  #out: ChatEvent[] = []

  constructor(stages: StageFactory) {
    this.#stages = stages
  }

  get notes(): readonly GuardNote[] {
    return this.#stages.notes
  }

  /**
   * Returns the events that the client may see. While the result is a pending promise, `push` must not be called again.
   */
  push(events: readonly ChatEvent[]): ChatEvent[] | Promise<ChatEvent[]> {
    return nowOrLater(this.#takeFrom(events, 0), () => this.#drain())
  }

  /** Returns the events that still wait, when the stream ends without `finish` or `error`. */
  end(): ChatEvent[] | Promise<ChatEvent[]> {
    return nowOrLater(this.#endAllTexts(), () => {
      this.#emitUsage()
      return this.#drain()
    })
  }

  #drain(): ChatEvent[] {
    const out = this.#out
    this.#out = []
    return out
  }

  #takeFrom(events: readonly ChatEvent[], first: number): void | Promise<void> {
    for (const [index, event] of events.entries()) {
      if (index < first) continue
      if (this.rejection !== null) return
      const taken = this.#take(event)
      if (taken instanceof Promise) return taken.then(() => this.#takeFrom(events, index + 1))
    }
  }

  #take(event: ChatEvent): void | Promise<void> {
    switch (event.type) {
      case 'start':
        return this.#emit(event)
      case 'partStart':
        return event.part.type === 'native' ? this.#passNative(event, event.part) : this.#begin(event)
      case 'partDelta':
        return nowOrLater(this.#partAt(event.index).push(event.text), (released) =>
          this.#release(event.index, released),
        )
      case 'partEnd':
        return nowOrLater(this.#endText(event.index), (part) => this.#endPart(event, part))
      case 'usage':
        if (this.#parts.size === 0 && this.#usage === null) return this.#emit(event)
        this.#usage = { ...this.#usage, ...event.usage }
        return
      case 'finish':
      case 'error':
        return nowOrLater(this.#endAllTexts(), () => {
          this.#emitUsage()
          this.#emit(event)
        })
    }
  }

  #emit(event: ChatEvent): void {
    if (this.rejection === null) this.#out.push(event)
  }

  #emitUsage(): void {
    if (this.#usage !== null) this.#emit({ type: 'usage', usage: this.#usage })
    this.#usage = null
  }

  #begin(event: PartStart): void {
    const { type } = event.part
    this.#parts.set(event.index, new OpenPart(type, this.#stages.create(infoOf(type))))
    this.#emit(event)
  }

  /** The part at an index. Decoders announce a part before its text; an unannounced text is guarded too. */
  #partAt(index: number): OpenPart {
    let part = this.#parts.get(index)
    if (part === undefined) {
      part = new OpenPart('text', this.#stages.create(infoOf('text')))
      this.#parts.set(index, part)
    }
    return part
  }

  #release(index: number, released: Release): void {
    if ('kind' in released) return this.#block(released)
    const text = joinPassages(released)
    if (text !== '') this.#emit({ type: 'partDelta', index, text })
  }

  #block(rejection: Rejection): void {
    if (this.rejection !== null) return
    this.#emit({ type: 'error', error: errorOf(rejection) })
    this.rejection = rejection
    this.#parts.clear()
  }

  #endAllTexts(): void | Promise<void> {
    for (const index of this.#parts.keys()) {
      const ended = this.#endText(index)
      if (ended instanceof Promise) return ended.then(() => this.#endAllTexts())
    }
  }

  /** The part, when there was one. */
  #endText(index: number): OpenPart | undefined | Promise<OpenPart | undefined> {
    const part = this.#parts.get(index)
    if (part === undefined) return undefined
    return nowOrLater(part.end(), (released) => {
      this.#parts.delete(index)
      this.#release(index, released)
      return part
    })
  }

  #endPart(event: PartEnd, part: OpenPart | undefined): void | Promise<void> {
    const { signature, rest, ...end } = event
    // A signature vouches for text that the client did not get.
    const isVoid = part?.type === 'reasoning' && part.isMasked
    const signed: PartEnd = signature === undefined || isVoid ? end : { ...end, signature }
    if (rest === undefined) return this.#emit(signed)
    return nowOrLater(guardObject(rest, this.#stages.create(infoOf('native'))), (guarded) => {
      if (guarded.kind === 'reject') this.#block(guarded)
      else this.#emit({ ...signed, rest: part?.isMasked === true ? withoutLogprobs(guarded.value) : guarded.value })
    })
  }

  #passNative(event: PartStart, part: NativeStart): void | Promise<void> {
    return nowOrLater(guardObject(part.value, this.#stages.create(infoOf('native'))), (guarded) => {
      if (guarded.kind === 'reject') this.#block(guarded)
      else this.#emit({ ...event, part: { ...part, value: guarded.value } })
    })
  }
}

/** Removes logprobs, which would reveal the masked text. */
function withoutLogprobs({ logprobs: _logprobs, ...rest }: JsonObject): JsonObject {
  return rest
}

/** A part whose text is on its way through the guards. */
class OpenPart {
  readonly type: StartedPart['type']
  /** Whether the output differs from the input. */
  isMasked = false
  readonly #pipe: Stage

  constructor(type: StartedPart['type'], pipe: Stage) {
    this.type = type
    this.#pipe = pipe
  }

  push(text: string): Release | Promise<Release> {
    return nowOrLater(this.#pipe.push(text), (released) => this.#look(released))
  }

  end(): Release | Promise<Release> {
    return nowOrLater(this.#pipe.end(), (released) => this.#look(released))
  }

  #look(released: Release): Release {
    if (!('kind' in released)) this.isMasked ||= released.some(({ isMask }) => isMask)
    return released
  }
}

/** Tools are called with JSON. */
function infoOf(type: StartedPart['type']): TextInfo {
  return { role: 'assistant', form: type === 'toolCall' || type === 'native' ? 'json' : 'text' }
}

type GuardedObject = { kind: 'object'; value: JsonObject } | Rejection

/** Guards an object as the JSON that it is. */
function guardObject(value: JsonObject, pipe: Stage): GuardedObject | Promise<GuardedObject> {
  return nowOrLater(pipe.push(JSON.stringify(value)), (start) => {
    if ('kind' in start) return start
    return nowOrLater(pipe.end(), (end) => ('kind' in end ? end : readObject(joinPassages(start) + joinPassages(end))))
  })
}

function readObject(text: string): GuardedObject {
  const value = parseJsonObject(text)
  return value === null ? failedClosed('masking would make the JSON of a part invalid') : { kind: 'object', value }
}
