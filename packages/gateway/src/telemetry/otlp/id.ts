/** The id of a trace or a span. Collectors get its bytes; headers and logs get its hex digits, which are made on demand. */
export class Id {
  /** Words of 32 bits, the first digits first. */
  readonly words: readonly number[]
  #hex: string | null

  private constructor(words: readonly number[], hex: string | null) {
    this.words = words
    this.#hex = hex
  }

  /** Parses lower-case hex digits, eight for each word. */
  static of(hex: string): Id {
    const words = Array.from(
      { length: hex.length >>> 3 },
      (_, i) => Number.parseInt(hex.slice(8 * i, 8 * i + 8), 16) | 0,
    )
    return new Id(words, hex)
  }

  static ofTrace(random: () => number): Id {
    return new Id(notZero([word(random), word(random), word(random), word(random)]), null)
  }

  static ofSpan(random: () => number): Id {
    return new Id(notZero([word(random), word(random)]), null)
  }

  get hex(): string {
    if (this.#hex !== null) return this.#hex
    let hex = ''
    for (const each of this.words) hex += digitsOf(each)
    return (this.#hex = hex)
  }
}

/** `toString(16)` is slow for numbers beyond 31 bits. */
function digitsOf(part: number): string {
  return PAIRS[part >>> 24]! + PAIRS[(part >>> 16) & 0xff]! + PAIRS[(part >>> 8) & 0xff]! + PAIRS[part & 0xff]!
}

/** Makes the id non-zero, because an id of zeros is invalid. */
function notZero(words: number[]): number[] {
  if (!words.some((each) => each !== 0)) words[0] = 1
  return words
}

function word(random: () => number): number {
  return Math.floor(random() * 0x1_0000_0000) | 0
}

/** The hex digits of every byte. */
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
