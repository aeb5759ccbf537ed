import { HeaderBlock } from '@portico/http'

/** Tells which headers of a replayed request its record does not hold. */
export interface MissingHeaders {
  /** Whether the client may have sent further headers, which the record does not name. */
  readonly others: boolean
  /** The names, in lower case, of headers whose values are stand-ins. */
  readonly names: ReadonlySet<string>
}

/** A header block that reports each read of a header whose value the record does not hold. */
export class TrackedHeaders extends HeaderBlock {
  readonly #missing: MissingHeaders
  readonly #known: ReadonlySet<string>
  readonly #read: (name: string) => void

  constructor(headers: HeaderBlock, missing: MissingHeaders, read: (name: string) => void) {
    const text = headers.toText()
    super(text, positionsIn(text))
    this.#missing = missing
    this.#read = read
    const known = new Set<string>()
    headers.forEach((name) => known.add(name.toLowerCase()))
    this.#known = known
  }

  override nth(name: string, index: number): string | null {
    const { names, others } = this.#missing
    const found = super.nth(name, index)
    // A header that a policy has set is not missing.
    if (names.has(name) || (others && found === null && !this.#known.has(name))) this.#read(name)
    return found
  }

  override forEach(visit: (name: string, value: string) => void): void {
    const { names, others } = this.#missing
    if (others || names.size > 0) this.#read(EVERY_HEADER)
    super.forEach(visit)
  }
}

/** The name that a read of all headers is reported with. */
export const EVERY_HEADER = '*'

/** Returns the five positions of each header line, in the layout of `HeaderBlock`. */
function positionsIn(text: string): number[] {
  const positions: number[] = []
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\r\n', start)
    const colon = text.indexOf(':', start)
    let [from, to] = [colon + 1, end]
    while (from < to && isBlank(text.charCodeAt(from))) from++
    while (to > from && isBlank(text.charCodeAt(to - 1))) to--
    positions.push(start, colon, from, to, end + 2)
    start = end + 2
  }
  return positions
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9
}
