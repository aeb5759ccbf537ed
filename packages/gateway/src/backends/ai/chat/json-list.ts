/**
 * Splits a JSON list of objects into its elements; chunks may be cut anywhere. An element is found by its braces, so its
 * inside still has to be parsed.
 */
export class JsonList {
  /** The reason why the bytes are not a JSON list of objects; null while they may be such a list. */
  failure: string | null = null
  readonly #maxBytes: number
  #state: State = 'list'
  /** The first bytes of the list element that is not complete yet. */
  #held: Buffer[] = []
  #heldLength = 0
  /** The open braces and brackets of the list element that is not complete yet. */
  #depth = 0
  #isText = false
  #isEscaped = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Whether the closing bracket of the list was read. */
  get isComplete(): boolean {
    return this.#state === 'over' && this.failure === null
  }

  /** Returns the list elements that the chunk completes; an empty list after a failure. */
  push(chunk: Buffer): Buffer[] {
    const elements: Buffer[] = []
    let start = 0
    for (let at = 0; at < chunk.length && this.failure === null; at++) {
      const byte = chunk[at] ?? 0
      if (this.#state !== 'element') {
        if (!isSpace(byte)) this.#between(byte)
        start = at
        continue
      }
      if (!this.#endsElement(byte)) continue
      this.#hold(chunk.subarray(start, at + 1))
      elements.push(this.rest())
      this.#state = 'separator'
    }
    if (this.#state === 'element' && start < chunk.length) this.#hold(chunk.subarray(start))
    if (this.#heldLength > this.#maxBytes) this.#fail('an element of the list is too long')
    return elements
  }

  /** Returns and clears the bytes of the incomplete list element. */
  rest(): Buffer {
    const bytes = Buffer.concat(this.#held)
    this.#held = []
    this.#heldLength = 0
    return bytes
  }

  /** Reads a byte outside of list elements. */
  #between(byte: number): void {
    const next = NEXT[this.#state].get(byte)
    if (next === undefined) return this.#fail('the stream is no JSON list of objects')
    this.#state = next
    if (next === 'element') this.#depth = 1
  }

  /** Reads a byte of a list element; returns whether the byte completes the element. */
  #endsElement(byte: number): boolean {
    if (this.#isText) {
      if (byte < SPACE) this.#fail('a text of the list has a control character')
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#isText = false
      return false
    }
    if (byte === QUOTE) this.#isText = true
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth--
    return this.#depth === 0
  }

  /** Copies the bytes, because the chunk may be a view of a buffer that the next read overwrites. */
  #hold(bytes: Buffer): void {
    this.#held.push(Buffer.from(bytes))
    this.#heldLength += bytes.length
  }

  #fail(why: string): void {
    this.failure ??= why
    this.rest()
  }
}

/**
 * The position of the next byte in the list. `list`: before the list; `first`: before its first element; `next`: after
 * a comma; `separator`: after an element.
 */
type State = 'list' | 'first' | 'next' | 'element' | 'separator' | 'over'

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** The bytes that are allowed in each state, with the next state. */
const NEXT: Readonly<Record<State, ReadonlyMap<number, State>>> = {
  list: new Map([[OPEN_BRACKET, 'first']]),
  first: new Map([
    [OPEN_BRACE, 'element'],
    [CLOSE_BRACKET, 'over'],
  ]),
  next: new Map([[OPEN_BRACE, 'element']]),
  element: new Map(),
  separator: new Map([
    [COMMA, 'next'],
    [CLOSE_BRACKET, 'over'],
  ]),
  over: new Map(),
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09
}
