import { HeadersView } from '@portico/cel'
import type { HeaderBlock } from '@portico/http'

/** The headers of a message as expressions see them: one line is a text, several are a list. */
export class BlockView extends HeadersView {
  readonly #block: HeaderBlock

  constructor(block: HeaderBlock) {
    super()
    this.#block = block
  }

  get(name: string): string | readonly string[] | undefined {
    const first = this.#block.nth(name, 0)
    if (first === null) return undefined
    const second = this.#block.nth(name, 1)
    if (second === null) return readable(first)
    const all = [readable(first), readable(second)]
    for (let i = 2, next = this.#block.nth(name, i); next !== null; next = this.#block.nth(name, ++i)) {
      all.push(readable(next))
    }
    return all
  }

  keys(): Iterable<string> {
    const names = new Set<string>()
    this.#block.forEach((name) => names.add(name.toLowerCase()))
    return names
  }
}

/** Decodes a line, which has one character code per byte, as UTF-8; a line that is not UTF-8 is read as latin1. */
function readable(line: string): string {
  if (!/[\x80-\xff]/.test(line)) return line
  try {
    return utf8.decode(Buffer.from(line, 'latin1'))
  } catch {
    return line
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
