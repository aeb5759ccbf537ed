import type { Logger } from '../../../telemetry/log/logger.ts'

interface StderrOptions {
  log: Logger
  /** The name of the target. */
  name: string
  conceal: (text: string) => string
  /** Milliseconds of a monotonic clock. */
  now: () => number
}

/** Logs the lines that a program writes to standard error; long lines are cut, and their rate is limited. */
export class Stderr {
  readonly #options: StderrOptions
  readonly #decoder = new TextDecoder()
  #line = ''
  #lastLine = ''
  #allowance = BURST
  #refilledAt: number
  #leftOut = 0

  constructor(options: StderrOptions) {
    this.#options = options
    this.#refilledAt = options.now()
  }

  /** The last line that the program wrote; empty without one. */
  get lastLine(): string {
    return this.#lastLine
  }

  push(chunk: Buffer): void {
    const pieces = this.#decoder.decode(chunk, { stream: true }).split(/\r?\n/)
    for (const [at, piece] of pieces.entries()) {
      if (at > 0) this.#endLine()
      if (this.#line.length < MAX_LINE) this.#line += piece.slice(0, MAX_LINE)
    }
  }

  end(): void {
    this.#endLine()
    this.#reportLeftOut()
  }

  #endLine(): void {
    const isLong = this.#line.length >= MAX_LINE
    const line = this.#line.slice(0, MAX_LINE).trimEnd()
    this.#line = ''
    if (line === '') return
    const { conceal, log, name } = this.#options
    this.#lastLine = conceal(line) + (isLong ? '…' : '')
    if (!this.#isAllowed()) {
      this.#leftOut++
      return
    }
    this.#reportLeftOut()
    log.info('stderr', { target: name, line: this.#lastLine })
  }

  #isAllowed(): boolean {
    const now = this.#options.now()
    this.#allowance = Math.min(BURST, this.#allowance + ((now - this.#refilledAt) / 1000) * LINES_PER_SECOND)
    this.#refilledAt = now
    if (this.#allowance < 1) return false
    this.#allowance -= 1
    return true
  }

  #reportLeftOut(): void {
    if (this.#leftOut === 0) return
    this.#options.log.warn('stderr lines dropped by the rate limit', {
      target: this.#options.name,
      lines: this.#leftOut,
    })
    this.#leftOut = 0
  }
}

const MAX_LINE = 1024
const BURST = 100
const LINES_PER_SECOND = 20
