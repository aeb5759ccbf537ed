import { readFileSync } from 'node:fs'
import { replaceFile } from './write-file.ts'

/** Where the text of the config stands, for who shows and who changes it. Both throw where they cannot. */
export interface HeldText {
  /** As the log has it. */
  readonly what: string
  /** What becomes of an edit that comes when the process is about to end. */
  readonly atTheEnd: string
  read(): string
  /** False where it is not `before`: then nothing is changed. */
  replace(text: string, before: string): boolean
}

export function textOfFile(path: string): HeldText {
  return {
    what: 'config file',
    atTheEnd: 'this gateway is about to end: a file that was written is for the next one',
    read: () => readFileSync(path, 'utf8'),
    replace: (text, before) => replaceFile(path, text, before),
  }
}

/** That of the quick start: it came from no file, and none is written for it. It ends with the process. */
export class TextInMemory implements HeldText {
  readonly what = 'config in memory'
  readonly atTheEnd = 'this gateway is about to end, and the config in its memory ends with it'
  #text: string

  constructor(text: string) {
    this.#text = text
  }

  read(): string {
    return this.#text
  }

  replace(text: string, before: string): boolean {
    if (this.#text !== before) return false
    this.#text = text
    return true
  }
}
