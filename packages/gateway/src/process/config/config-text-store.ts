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
    atTheEnd: 'this gateway is shutting down: a config file written now takes effect at the next start',
    read: () => readFileSync(path, 'utf8'),
    replace: (text, before) => replaceFile(path, text, before),
  }
}

/** The config text of the quick start, which is lost when the process ends. */
export class TextInMemory implements ConfigTextStore {
  readonly what = 'config in memory'
  readonly atTheEnd = 'this gateway is shutting down, and its config in memory is lost'
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
