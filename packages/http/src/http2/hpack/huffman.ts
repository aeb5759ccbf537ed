import { latin1 } from '../../http1/chars.ts'

/**
 * The code length of each byte, as a digit in base 36 (RFC 7541 Appendix B). The code is canonical: longer codes follow
 * shorter codes, and codes of one length follow the order of the bytes, so the lengths define the code.
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss' +
  '6aacd68baa8b8666555666666678f6ca' +
  'd67777777777777777777777878djde6' +
  'f56565666577666567655677777fbeds' +
  'kmkkmmmnmnnnnnonoomnonnnnlmnmnno' +
  'mlkmmnnlnmmolmnnllmlnmnnkmmmnmmn' +
  'qqkjmnmpqqqrrqopjlqrrqrollqqsrrr' +
  'koklmllnmmppooqnqrqqrrrrrsrrrrrq'

/** The end-of-string symbol, of which only the first bits occur, as padding. */
const EOS = 256
const EOS_LENGTH = 30

/**
 * Decodes four bits at a time: a state is a position in the code tree. No code is shorter than five bits, so each step
 * completes at most one code.
 */
class HuffmanReader {
  readonly #next = new Uint8Array(STATES * STEPS)
  /** The byte that a step completes, or NOTHING. */
  readonly #gives = new Int16Array(STATES * STEPS)
  /** States in which a text may end: after less than a byte of padding and nothing else. */
  readonly #isEnd = new Uint8Array(STATES)
  #scratch = Buffer.allocUnsafeSlow(1024)

  constructor() {
    const tree = buildTree()
    for (let state = 0; state < STATES; state++) {
      for (let bits = 0; bits < STEPS; bits++) this.#fill(tree, state, bits)
    }
    for (let state = 0, ones = 0; ones < 8; ones++) {
      this.#isEnd[state] = 1
      state = tree[state * 2 + 1] ?? 0
    }
  }

  #fill(tree: Int16Array, state: number, bits: number): void {
    let node = state
    let gives = NOTHING
    for (let bit = 3; bit >= 0; bit--) {
      node = tree[node * 2 + ((bits >> bit) & 1)] ?? 0
      if (node >= 0) continue
      gives = -1 - node
      node = 0
    }
    this.#next[state * STEPS + bits] = node
    this.#gives[state * STEPS + bits] = gives
  }

  /** Returns null when the bytes are not valid Huffman code. */
  read(bytes: Buffer, start: number, end: number): string | null {
    // The shortest code has five bits.
    const most = ((end - start) * 8) / 5 + 1
    if (this.#scratch.length < most) this.#scratch = Buffer.allocUnsafeSlow(Math.ceil(most))
    const [next, gives, out] = [this.#next, this.#gives, this.#scratch]
    let state = 0
    let length = 0
    for (let at = start; at < end; at++) {
      const byte = bytes[at] ?? 0
      for (let step = state * STEPS + (byte >> 4), half = 0; half < 2; half++) {
        const given = gives[step] ?? NOTHING
        if (given !== NOTHING) {
          if (given === EOS) return null
          out[length++] = given
        }
        state = next[step] ?? 0
        step = state * STEPS + (byte & 15)
      }
    }
    return this.#isEnd[state] === 1 ? latin1(out, 0, length) : null
  }
}

const STATES = 256
const STEPS = 16
const NOTHING = -1

/** Two children for each inner node, the root first: the index of a node, or a negative number for a byte. */
function buildTree(): Int16Array {
  const lengths = Array.from(LENGTHS, (digit) => Number.parseInt(digit, 36)).concat(EOS_LENGTH)
  const symbols = lengths.map((_, symbol) => symbol).sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0) || a - b)
  const tree = new Int16Array(STATES * 2)
  let nodes = 1
  let code = 0
  let before = 0
  for (const symbol of symbols) {
    const length = lengths[symbol] ?? 0
    code *= 2 ** (length - before)
    before = length
    let node = 0
    for (let bit = length - 1; bit > 0; bit--) {
      const branch = node * 2 + (Math.floor(code / 2 ** bit) & 1)
      if (tree[branch] === 0) tree[branch] = nodes++
      node = tree[branch] ?? 0
    }
    tree[node * 2 + (code & 1)] = -1 - symbol
    code++
  }
  return tree
}

let reader: HuffmanReader | null = null

/** Decodes Huffman-coded bytes; returns null when they are invalid. */
export function readHuffman(bytes: Buffer, start: number, end: number): string | null {
  reader ??= new HuffmanReader()
  return reader.read(bytes, start, end)
}
