/** A set of characters: bit n is the ASCII character n, bit 128 stands for everything beyond ASCII. */
export type CharSet = bigint

export const EMPTY: CharSet = 0n
const BEYOND_ASCII: CharSet = 1n << 128n
const ALL: CharSet = (1n << 129n) - 1n

export function single(char: string): CharSet {
  return 1n << BigInt(char.charCodeAt(0))
}

/** The characters from `first` to `last`, inclusive; empty when they are in the wrong order. */
export function range(first: string, last: string): CharSet {
  const low = BigInt(first.charCodeAt(0))
  const high = BigInt(last.charCodeAt(0))
  return low > high ? EMPTY : ((1n << (high - low + 1n)) - 1n) << low
}

export function complement(set: CharSet): CharSet {
  return ALL & ~set
}

/** RE2's dot excludes only the newline; V8's excludes four characters. */
export const DOT = complement(single('\n'))

const DIGIT = range('0', '9')
const WORD = DIGIT | range('A', 'Z') | range('a', 'z') | single('_')
// RE2's \s is narrower than V8's: no vertical tab, nothing beyond ASCII.
const SPACE = single('\t') | single('\n') | single('\f') | single('\r') | single(' ')

export const PERL_CLASSES: ReadonlyMap<string, CharSet> = new Map([
  ['d', DIGIT],
  ['D', complement(DIGIT)],
  ['w', WORD],
  ['W', complement(WORD)],
  ['s', SPACE],
  ['S', complement(SPACE)],
])

/** Writes the set out, without shorthands that mean something else in V8. */
export function toV8Class(set: CharSet): string {
  const negated = (set & BEYOND_ASCII) !== 0n
  const listed = negated ? complement(set) : set
  // One conversion to binary digits, highest code first, is far cheaper than testing each bit of a bigint.
  const bits = listed.toString(2)
  let ranges = ''
  for (let start = bits.indexOf('1'); start !== -1;) {
    const gap = bits.indexOf('0', start)
    const end = gap === -1 ? bits.length : gap
    const [low, high] = [bits.length - end, bits.length - 1 - start]
    ranges += low === high ? hex(low) : `${hex(low)}-${hex(high)}`
    start = bits.indexOf('1', end)
  }
  return `[${negated ? '^' : ''}${ranges}]`
}

function hex(code: number): string {
  return `\\x${code.toString(16).padStart(2, '0')}`
}
