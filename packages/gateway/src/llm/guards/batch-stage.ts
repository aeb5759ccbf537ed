import type { Mask, Pass, Rejection } from './guard.ts'
import { nowOrLater } from './now-or-later.ts'
import { compare, NOTHING, type Passage, verbatim } from './passage.ts'
import type { Released, Stage } from './stage.ts'

/** Most characters that a check is about, beside those that were checked before. */
export const BATCH = 1024
/** Checked characters that wait for the next batch, so that a match over the boundary is seen before any of it goes on. */
export const OVERLAP = 256
/** Most characters that wait because a mask reaches to their end, where more of what it hides may follow. */
const MAX_OPEN = 3 * BATCH

export type Check = (text: string) => Pass | Mask | Rejection | Promise<Pass | Mask | Rejection>

/** A guard that has to be asked: nothing goes on before the guard has seen it, with what stands before and behind. */
export function batchStage(check: Check): Stage {
  let held = ''
  /** So many of the held characters were checked before. */
  let checked = 0
  /** Some of them are hidden by a mask that may go on: they are held as they came. */
  let isOpen = false

  return { push: (text) => release(text, NOTHING), end }

  function release(text: string, before: readonly Passage[]): Released | Promise<Released> {
    held += text
    if (held.length - checked < BATCH) return before
    const batch = held.slice(0, batchEnd(held, checked + BATCH))
    return nowOrLater(check(batch), (verdict) => {
      if (verdict.kind === 'reject') return verdict
      const released = settledPart(batch, verdict.kind === 'mask' ? (verdict.texts[0] ?? '') : batch)
      checked = batch.length - released.length
      isOpen = released.isOpen
      held = held.slice(released.length)
      return release('', [...before, ...released.passages])
    })
  }

  function end(): Released | Promise<Released> {
    if (held.length === checked && !isOpen) return verbatim(held)
    return nowOrLater(check(held), (verdict) => {
      if (verdict.kind === 'reject') return verdict
      return verdict.kind === 'mask' ? compare(held, verdict.texts[0] ?? '') : verbatim(held)
    })
  }
}

/** Between lines if possible, else between words: what is one piece is checked as one. */
function batchEnd(held: string, latest: number): number {
  const earliest = latest - OVERLAP
  const line = held.lastIndexOf('\n', latest - 1)
  if (line >= earliest) return line + 1
  for (let end = latest; end > earliest; end--) if (isSpace(held.charCodeAt(end - 1))) return end
  return isHalfCharacter(held, latest) ? latest - 1 : latest
}

interface SettledPart {
  passages: readonly Passage[]
  /** So many characters of the batch they stand for. */
  length: number
  isOpen: boolean
}

/** What may go on of a batch. */
function settledPart(batch: string, masked: string): SettledPart {
  const end = commonEnd(batch, masked)
  // A space may stand behind the last mask.
  const isOpen = masked !== batch && end <= 1 && batch.length < MAX_OPEN
  if (isOpen) return { ...passagesUntil(compare(batch, masked), batch.length - OVERLAP), isOpen }
  const kept = end > 0 && isHalfCharacter(batch, batch.length - end) ? end - 1 : end
  const length = batch.length - kept
  return { passages: compare(batch.slice(0, length), masked.slice(0, masked.length - kept)), length, isOpen }
}

/** What stands before a place; a mask that reaches over it stays whole, for the next batch. */
function passagesUntil(all: readonly Passage[], latest: number): Omit<SettledPart, 'isOpen'> {
  const passages: Passage[] = []
  let length = 0
  for (const passage of all) {
    const room = latest - length
    if (passage.of <= room) {
      passages.push(passage)
      length += passage.of
      continue
    }
    if (passage.isMask || room <= 0) break
    const cut = isHalfCharacter(passage.text, room) ? room - 1 : room
    passages.push(...verbatim(passage.text.slice(0, cut)))
    length += cut
    break
  }
  return { passages, length }
}

/** No more of it than waits anyway. */
function commonEnd(left: string, right: string): number {
  const most = Math.min(left.length, right.length, OVERLAP)
  let length = 0
  while (length < most && left.at(-1 - length) === right.at(-1 - length)) length++
  return length
}

/** Whether a cut here would part what UTF-16 writes as two: half of it would be nothing to whoever gets it. */
function isHalfCharacter(text: string, cut: number): boolean {
  const code = text.charCodeAt(cut - 1)
  return code >= 0xd800 && code < 0xdc00
}

/** The full stop of Chinese and Japanese stands where others have a space. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0xa0 || code === 0x3002
}
