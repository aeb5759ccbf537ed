/** A piece of a guard's output, with the number `of` input characters that the piece replaces. */
export interface Passage {
  text: string
  of: number
  /** Whether the text is a mask in place of the original. */
  isMask: boolean
}

export const NOTHING: readonly Passage[] = []

export function verbatim(text: string): readonly Passage[] {
  return text === '' ? NOTHING : [{ text, of: text.length, isMask: false }]
}

export function joinPassages(passages: readonly Passage[]): string {
  return passages.map(({ text }) => text).join('')
}

/** Adds a passage to a list; adjacent unmasked passages become one. */
export function addPassage(passages: Passage[], next: Passage): void {
  const last = passages.at(-1)
  if (last === undefined || last.isMask || next.isMask) passages.push(next)
  else passages[passages.length - 1] = { text: last.text + next.text, of: last.of + next.of, isMask: false }
}

/**
 * Maps the output of a guard back to the input of the guard before it. Holds the passages of the earlier guard until
 * the later guard releases their text.
 */
export class Origins {
  #waiting: Passage[] = []

  add(passages: readonly Passage[]): void {
    this.#waiting.push(...passages)
  }

  /** Translates a passage of the later guard to the input of the earlier guard. */
  take(passage: Passage): Passage[] {
    const parts = this.#takeLength(passage.of)
    if (!passage.isMask) return parts
    return [{ text: passage.text, of: parts.reduce((sum, { of }) => sum + of, 0), isMask: true }]
  }

  /** The remaining passages, which are masks with an empty text. */
  rest(): Passage[] {
    return this.#waiting.splice(0)
  }

  #takeLength(length: number): Passage[] {
    const parts: Passage[] = []
    for (let left = length; ;) {
      const first = this.#waiting[0]
      if (first === undefined || (left === 0 && first.text !== '')) return parts
      if (first.text.length <= left) {
        parts.push(first)
        this.#waiting.shift()
        left -= first.text.length
        continue
      }
      // The last piece of a split mask covers all the masked characters.
      const of = first.isMask ? 0 : left
      parts.push({ text: first.text.slice(0, left), of, isMask: first.isMask })
      this.#waiting[0] = { text: first.text.slice(left), of: first.of - of, isMask: first.isMask }
      return parts
    }
  }
}

/**
 * Finds the changes between a text and its masked form, for guards that return only the result. Words that follow each
 * other in both texts are unchanged.
 */
export function compare(before: string, after: string): readonly Passage[] {
  if (before === after) return verbatim(before)
  const olds = wordsOf(before)
  const news = wordsOf(after)
  const passages: Passage[] = []
  let old = 0
  let next = 0
  while (old < olds.length || next < news.length) {
    const word = olds[old]
    if (word !== undefined && word === news[next]) {
      addPassage(passages, { text: word, of: word.length, isMask: false })
      old++
      next++
      continue
    }
    const [skipped, added] = nextMeeting(olds.slice(old, old + MAX_APART + 2), news.slice(next, next + MAX_APART + 2))
    const oldEnd = skipped === null ? olds.length : old + skipped
    const newEnd = skipped === null ? news.length : next + added
    addMask(passages, olds.slice(old, oldEnd).join(''), news.slice(next, newEnd).join(''))
    old = oldEnd
    next = newEnd
  }
  return passages
}

/** Words, and the whitespace between them. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\s+|\S+/g) ?? []
}

/**
 * The number of words to skip on each side until two consecutive words agree again; nulls when they do not agree within
 * `MAX_APART` words.
 */
function nextMeeting(olds: readonly string[], news: readonly string[]): [number, number] | [null, null] {
  for (let apart = 1; apart <= 2 * MAX_APART; apart++) {
    for (let skipped = Math.min(apart, MAX_APART); skipped >= Math.max(0, apart - MAX_APART); skipped--) {
      const added = apart - skipped
      const isAlike = skipped < olds.length && olds[skipped] === news[added] && olds[skipped + 1] === news[added + 1]
      if (isAlike) return [skipped, added]
    }
  }
  return [null, null]
}

function addMask(passages: Passage[], hidden: string, text: string): void {
  if (hidden !== '') return addPassage(passages, { text, of: hidden.length, isMask: true })
  // An insertion replaces no characters, so it is joined with the character before it.
  const last = passages.pop()
  if (last === undefined) return addPassage(passages, { text, of: 0, isMask: true })
  const kept = last.isMask ? 0 : last.text.length - 1
  if (kept > 0) passages.push({ text: last.text.slice(0, kept), of: kept, isMask: false })
  passages.push({ text: last.text.slice(kept) + text, of: last.of - kept, isMask: true })
}

const MAX_APART = 32
