import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { escapeInput, INPUT_PREFIX, INPUT_SUFFIX } from '../../custom-tools.ts'

/** Keeps what was said of each part, so that what a provider says twice, or only at the end, is said exactly once. */
export interface PartLedger {
  has(key: string): boolean
  /** Does nothing when it is open already, or over. `isCustom`: its text is the input of a custom tool. */
  open(key: string, part: StartedPart, isCustom?: boolean): void
  add(key: string, text: string): void
  /** `whole` is all of its text. */
  complete(key: string, whole: string): void
  close(key: string, whole: string, end?: { opaque?: string; rest?: JsonObject }): void
}

interface Entry {
  index: number
  /** How much of its text was said. */
  length: number
  isOver: boolean
  isCustom: boolean
}

export function createPartLedger(emit: (event: ChatEvent) => void): PartLedger {
  const entries = new Map<string, Entry>()

  function say(entry: Entry, text: string): void {
    if (entry.isOver || text === '') return
    entry.length += text.length
    emit({ type: 'partDelta', index: entry.index, text: entry.isCustom ? escapeInput(text) : text })
  }

  return {
    has: (key) => entries.has(key),
    open(key, part, isCustom = false) {
      if (entries.has(key)) return
      const index = entries.size
      entries.set(key, { index, length: 0, isOver: false, isCustom })
      emit({ type: 'partStart', index, part })
      if (isCustom) emit({ type: 'partDelta', index, text: INPUT_PREFIX })
    },
    add(key, text) {
      const entry = entries.get(key)
      if (entry !== undefined) say(entry, text)
    },
    complete(key, whole) {
      const entry = entries.get(key)
      if (entry !== undefined) say(entry, whole.slice(entry.length))
    },
    close(key, whole, end = {}) {
      const entry = entries.get(key)
      if (entry === undefined || entry.isOver) return
      say(entry, whole.slice(entry.length))
      if (entry.isCustom) emit({ type: 'partDelta', index: entry.index, text: INPUT_SUFFIX })
      entry.isOver = true
      emit({ type: 'partEnd', index: entry.index, ...end })
    },
  }
}
