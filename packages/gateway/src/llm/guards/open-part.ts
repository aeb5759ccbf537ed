import type { StartedPart } from '../middle.ts'
import type { TextInfo } from './guard.ts'
import { nowOrLater } from './now-or-later.ts'
import type { Released, Stage } from './stage.ts'

/** A part of an answer whose text is on its way through the guards. */
export class OpenPart {
  readonly type: StartedPart['type']
  readonly #pipe: Stage
  /** What went in and has not come out; null once something else came out. */
  #waiting: string | null = ''

  constructor(type: StartedPart['type'], pipe: Stage) {
    this.type = type
    this.#pipe = pipe
  }

  get isMasked(): boolean {
    return this.#waiting === null
  }

  push(text: string): Released | Promise<Released> {
    if (this.#waiting !== null) this.#waiting += text
    return nowOrLater(this.#pipe.push(text), (released) => this.#compare(released))
  }

  end(): Released | Promise<Released> {
    return nowOrLater(this.#pipe.end(), (released) => {
      const rest = this.#compare(released)
      if (this.#waiting !== '') this.#waiting = null
      return rest
    })
  }

  #compare(released: Released): Released {
    if (typeof released === 'string' && this.#waiting !== null) {
      this.#waiting = this.#waiting.startsWith(released) ? this.#waiting.slice(released.length) : null
    }
    return released
  }
}

/** Tools are called with JSON. */
export function infoOf(type: StartedPart['type']): TextInfo {
  return { role: 'assistant', form: type === 'toolCall' || type === 'native' ? 'json' : 'text' }
}
