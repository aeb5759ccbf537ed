import type { StartedPart } from '../middle.ts'
import type { TextInfo } from './guard.ts'
import { nowOrLater } from './now-or-later.ts'
import type { Released, Stage } from './stage.ts'

/** A part of an answer whose text is on its way through the guards. */
export class OpenPart {
  readonly type: StartedPart['type']
  /** Something else came out than went in. */
  isMasked = false
  readonly #pipe: Stage

  constructor(type: StartedPart['type'], pipe: Stage) {
    this.type = type
    this.#pipe = pipe
  }

  push(text: string): Released | Promise<Released> {
    return nowOrLater(this.#pipe.push(text), (released) => this.#look(released))
  }

  end(): Released | Promise<Released> {
    return nowOrLater(this.#pipe.end(), (released) => this.#look(released))
  }

  #look(released: Released): Released {
    if (!('kind' in released)) this.isMasked ||= released.some(({ isMask }) => isMask)
    return released
  }
}

/** Tools are called with JSON. */
export function infoOf(type: StartedPart['type']): TextInfo {
  return { role: 'assistant', form: type === 'toolCall' || type === 'native' ? 'json' : 'text' }
}
