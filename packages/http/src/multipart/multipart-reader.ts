import { parsePartHead, type PartHead } from './part-head.ts'

/** Receives the parts of a form in order. */
export interface PartReceiver {
  partBegan(head: PartHead): void
  /** A piece of the content; it may be a view of a buffer that the next read overwrites. */
  partData(chunk: Buffer): void
  partEnded(): void
}

/**
 * Splits a form into its parts while it arrives. Nothing but a bounded header, and what may be the beginning of a
 * boundary, is kept.
 *
 * Anything that another parser could read in another way is a problem: text before the first or after the last boundary,
 * a boundary that goes on in its line, folded or repeated header lines, a length that is not that of the part.
 */
export class MultipartReader {
  /** The reason why the form is refused; nothing is read after it. */
  problem: string | null = null
  /** Whether the last boundary has been read. */
  isComplete = false
  /** Whether a line break followed the last boundary. */
  hasLastBreak = false
  /** Whether a line break came before the first boundary. */
  hasFirstBreak = false
  readonly #delimiter: Buffer
  readonly #receiver: PartReceiver
  #state: State = 'start'
  #kept: Buffer = NO_BYTES
  #parts = 0
  /** The bytes that the current part still has to have; -1 when it announced no length. */
  #missing = -1

  constructor(boundary: string, receiver: PartReceiver) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#receiver = receiver
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0 || this.problem !== null) return
    const input = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk])
    this.#kept = NO_BYTES
    let at = 0
    while (at < input.length && this.problem === null) {
      const next = this.#step(input, at)
      if (next === MORE) {
        // The chunk may be a view of a buffer that the next read overwrites.
        this.#kept = Buffer.from(input.subarray(at))
        return
      }
      at = next
    }
  }

  /** Ends the form; returns the problem of a form that is not complete. */
  end(): string | null {
    if (this.problem === null && !(this.isComplete && this.#kept.length === 0)) {
      this.refuse('the form ends before its last boundary')
    }
    return this.problem
  }

  /** Stops reading. The first problem counts. */
  refuse(problem: string): void {
    this.problem ??= problem
  }

  /** Returns the position after the bytes that were read, or `MORE` when all of them are needed again. */
  #step(input: Buffer, at: number): number {
    switch (this.#state) {
      case 'start':
        return this.#start(input)
      case 'delimiter':
        return this.#afterDelimiter(input, at)
      case 'head':
        return this.#head(input, at)
      case 'content':
        return this.#content(input, at)
      case 'end':
        return this.#afterEnd(input, at)
    }
  }

  #start(input: Buffer): number {
    this.hasFirstBreak = input[0] === CR
    const expected = this.hasFirstBreak ? this.#delimiter : this.#delimiter.subarray(LINE_BREAK.length)
    const length = Math.min(input.length, expected.length)
    if (!input.subarray(0, length).equals(expected.subarray(0, length))) {
      return this.#refused('the form does not begin with its boundary')
    }
    if (length < expected.length) return MORE
    this.#state = 'delimiter'
    return length
  }

  #afterDelimiter(input: Buffer, at: number): number {
    if (input.length - at < 2) return MORE
    const isEnd = input[at] === DASH && input[at + 1] === DASH
    const isBreak = input[at] === CR && input[at + 1] === LF
    if (!isEnd && !isBreak) return this.#refused('a boundary of the form goes on in its line')
    if (isBreak && ++this.#parts > MAX_PARTS) return this.#refused(`the form has more than ${MAX_PARTS} parts`)
    this.#state = isEnd ? 'end' : 'head'
    this.isComplete = isEnd
    return at + 2
  }

  #head(input: Buffer, at: number): number {
    const end = input.indexOf(HEAD_END, at, 'latin1')
    const isTooLong = end === -1 ? input.length - at >= MAX_HEAD : end + HEAD_END.length - at > MAX_HEAD
    if (isTooLong) return this.#refused(`a part has a header larger than ${MAX_HEAD} bytes`)
    // A part without any header line begins with the empty line.
    const isEmpty = input[at] === CR && input[at + 1] === LF
    if (end === -1 && !isEmpty) return MORE
    const next = end + HEAD_END.length
    const head = isEmpty ? 'a part has no header' : parsePartHead(Buffer.from(input.subarray(at, next)))
    if (typeof head === 'string') return this.#refused(head)
    this.#missing = head.contentLength ?? -1
    this.#state = 'content'
    this.#receiver.partBegan(head)
    return next
  }

  #content(input: Buffer, at: number): number {
    const end = input.indexOf(this.#delimiter, at)
    if (end !== -1) {
      this.#pass(input, at, end)
      if (this.#missing > 0) return this.#refused('a part is shorter than its length')
      if (this.problem === null) this.#receiver.partEnded()
      this.#state = 'delimiter'
      return end + this.#delimiter.length
    }
    const rest = this.#beginOfDelimiter(input, at)
    this.#pass(input, at, rest)
    if (rest === at) return MORE
    return rest
  }

  /** The position of a beginning of the delimiter at the end of the input; its length when there is none. */
  #beginOfDelimiter(input: Buffer, at: number): number {
    const from = Math.max(at, input.length - this.#delimiter.length + 1)
    // The delimiter has one CR, its first byte.
    const cr = input.subarray(from).lastIndexOf(CR)
    if (cr === -1) return input.length
    const begin = input.subarray(from + cr)
    return begin.equals(this.#delimiter.subarray(0, begin.length)) ? from + cr : input.length
  }

  #pass(input: Buffer, from: number, to: number): void {
    if (to === from) return
    if (this.#missing !== -1 && (this.#missing -= to - from) < 0) return this.refuse('a part is longer than its length')
    this.#receiver.partData(from === 0 && to === input.length ? input : input.subarray(from, to))
  }

  #afterEnd(input: Buffer, at: number): number {
    const length = input.length - at
    if (this.hasLastBreak || length > 2 || input[at] !== CR || (length === 2 && input[at + 1] !== LF)) {
      return this.#refused('the form goes on after its last boundary')
    }
    if (length === 1) return MORE
    this.hasLastBreak = true
    return input.length
  }

  #refused(problem: string): number {
    this.refuse(problem)
    return MORE
  }
}

type State = 'start' | 'delimiter' | 'head' | 'content' | 'end'

const NO_BYTES = Buffer.alloc(0)
const LINE_BREAK = '\r\n'
const HEAD_END = '\r\n\r\n'
const MORE = -1
const CR = 0x0d
const LF = 0x0a
const DASH = 0x2d
/** The header of a part, in bytes: names of files may be long. */
const MAX_HEAD = 4_096
const MAX_PARTS = 256
