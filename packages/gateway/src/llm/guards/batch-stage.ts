import type { Mask, Pass, Rejection } from './guard.ts'
import { nowOrLater } from '../../pipeline/call/follow.ts'
import { compare, NOTHING, type Passage, verbatim } from './passage.ts'
import type { Release, Stage } from './stage.ts'

/** The maximum number of new characters in a check, in addition to the characters of the overlap. */
export const BATCH = 1024
/**
 * The number of checked characters that wait for the next batch, so that a match across the boundary is seen before any
 * of its characters are released.
 */
export const OVERLAP = 256
/** The maximum number of characters that wait because a mask reaches their end, where the match may continue. */
const MAX_OPEN = 3 * BATCH

type Check = (text: string) => Pass | Mask | Rejection | Promise<Pass | Mask | Rejection>

/**
 * A stage for guards that check whole texts. No text is released before the guard has checked it together with the text
 * around it.
 */
export function batchStage(check: Check): Stage {
  let held = ''
  /** The number of held characters that were checked before. */
  let checked = 0
  /** Whether a mask at the end of the held characters may continue, in which case they are held unmasked. */
  let isOpen = false

  return { push: (text) => release(text, NOTHING), end }

  function release(text: string, before: readonly Passage[]): Release | Promise<Release> {
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

  function end(): Release | Promise<Release> {
    if (held.length === checked && !isOpen) return verbatim(held)
    return nowOrLater(check(held), (verdict) => {
      if (verdict.kind === 'reject') return verdict
      return verdict.kind === 'mask' ? compare(held, verdict.texts[0] ?? '') : verbatim(held)
    })
  }
}

/** The end of a batch: after a line if possible, else after a word, so that words are not split. */
function batchEnd(held: string, latest: number): number {
  const earliest = latest - OVERLAP
  const line = held.lastIndexOf('\n', latest - 1)
  if (line >= earliest) return line + 1
  for (let end = latest; end > earliest; end--) if (isSpace(held.charCodeAt(end - 1))) return end
  return isHalfCharacter(held, latest) ? latest - 1 : latest
}

interface SettledPart {
  passages: readonly Passage[]
  /** The number of characters of the batch that the passages cover. */
  length: number
  isOpen: boolean
}

/** The part of a checked batch that can be released. */
function settledPart(batch: string, masked: string): SettledPart {
  const end = commonEnd(batch, masked)
  // A space may follow the last mask.
  const isOpen = masked !== batch && end <= 1 && batch.length < MAX_OPEN
  if (isOpen) return { ...passagesUntil(compare(batch, masked), batch.length - OVERLAP), isOpen }
  const kept = end > 0 && isHalfCharacter(batch, batch.length - end) ? end - 1 : end
  const length = batch.length - kept
  return { passages: compare(batch.slice(0, length), masked.slice(0, masked.length - kept)), length, isOpen }
}

/** The passages before `latest`. A mask across `latest` stays whole, for the next batch. */
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

/** The length of the common suffix, at most `OVERLAP`, since so many characters wait anyway. */
function commonEnd(left: string, right: string): number {
  const most = Math.min(left.length, right.length, OVERLAP)
  let length = 0
  while (length < most && left.at(-1 - length) === right.at(-1 - length)) length++
  return length
}

/** Whether a cut here would split a UTF-16 surrogate pair, which no receiver could decode. */
function isHalfCharacter(text: string, cut: number): boolean {
  const code = text.charCodeAt(cut - 1)
  return code >= 0xd800 && code < 0xdc00
}

/** The ideographic full stop of Chinese and Japanese counts as a space. */
function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09 || code === 0xa0 || code === 0x3002
}
