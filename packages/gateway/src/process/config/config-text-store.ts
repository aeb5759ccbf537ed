import { readFileSync } from 'node:fs'
import { replaceFile } from './write-file.ts'

/** The text of the config: a file, or memory. `read` and `replace` throw when the file system fails. */
export interface ConfigTextStore {
  /** The name of the store in the log. */
  readonly what: string
  /** Says what happens to an edit that arrives during shutdown. */
  readonly atTheEnd: string
  read(): string
  /** Returns false, and changes nothing, when the text is not `before` any more. */
  replace(text: string, before: string): boolean
}

export function textOfFile(path: string): ConfigTextStore {
  return {
    what: 'config file',
    atTheEnd: 'this gateway is about to end: a file that was written is for the next one',
    read: () => readFileSync(path, 'utf8'),
    replace: (text, before) => replaceFile(path, text, before),
  }
}

/** That of the quick start: it came from no file, and none is written for it. It ends with the process. */
export class TextInMemory implements ConfigTextStore {
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
