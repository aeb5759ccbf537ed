import type { ChatEvent, JsonObject, StartedPart } from '../../middle.ts'
import { escapeInput, INPUT_PREFIX, INPUT_SUFFIX } from '../../tools/custom-tools.ts'

/**
 * Tracks the emitted text of each part, so that text which a provider sends twice, or only at the end, is emitted
 * exactly once.
 */
export interface PartLedger {
  has(key: string): boolean
  /**
   * Opens a part; does nothing when the part is open or has ended. `isCustom` says that its text is the input of a
   * custom tool.
   */
  open(key: string, part: StartedPart, isCustom?: boolean): void
  add(key: string, text: string): void
  /** Completes the text of a part; `whole` is all of its text. */
  complete(key: string, whole: string): void
  close(key: string, whole: string, end?: { opaque?: string; rest?: JsonObject }): void
}

interface Entry {
  index: number
  /** The length of the emitted text. */
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
