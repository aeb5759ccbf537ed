import type { NativeText } from './native-edits.ts'
import { nowOrLater } from '../../../pipeline/call/follow.ts'
import type { Passage } from '../passage.ts'
import type { Rejection, TextInfo } from '../guard.ts'
import type { Release, Stage } from '../stage.ts'

/** One text that spans several records: released text is written back to the records it came from. */
export class TextChannel {
  readonly #pipe: Stage
  readonly #waiting: NativeText[] = []
  /** The whole text so far, when requested. */
  readonly whole: { read: string; written: string } | null
  isMasked = false

  readonly form: TextInfo['form']

  constructor(form: TextInfo['form'], pipe: Stage, keepsWhole: boolean) {
    this.form = form
    this.#pipe = pipe
    this.whole = keepsWhole ? { read: '', written: '' } : null
  }

  push(text: NativeText): Rejection | null | Promise<Rejection | null> {
    // Nothing has nothing to wait for.
    if (text.read === '') text.replace('')
    else this.#waiting.push(text)
    if (this.whole !== null) this.whole.read += text.read
    return nowOrLater(this.#pipe.push(text.read), (released) => this.#take(released))
  }

  end(): Rejection | null | Promise<Rejection | null> {
    return nowOrLater(this.#pipe.end(), (released) => this.#take(released))
  }

  #take(released: Release): Rejection | null {
    if ('kind' in released) return released
    for (const passage of released) {
      this.isMasked ||= passage.isMask
      if (this.whole !== null) this.whole.written += passage.text
      if (passage.isMask) this.#putMask(passage)
      else this.#put(passage.text)
    }
    return null
  }

  #put(text: string): void {
    for (let at = 0; at < text.length;) {
      const first = this.#waiting[0]
      if (first === undefined) return
      const length = Math.min(first.left, text.length - at)
      first.write(text.slice(at, at + length), length)
      at += length
      if (first.left === 0) this.#waiting.shift()
    }
  }

  /** Writes a mask to the location of the first masked character. */
  #putMask({ text, of }: Passage): void {
    let mask = text
    for (let left = of; ;) {
      const first = this.#waiting[0]
      if (first === undefined) return
      const length = Math.min(first.left, left)
      first.write(mask, length)
      mask = ''
      left -= length
      if (first.left === 0) this.#waiting.shift()
      if (left === 0) return
    }
  }
}
