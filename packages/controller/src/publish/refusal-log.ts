import type { Refusal } from './counts.ts'

type Fields = Readonly<Record<string, unknown>>

/** Logs repeated rejections in one line, so that a client that keeps trying does not fill the log. */
export class RefusalLog {
  readonly #write: (reason: Refusal, fields: Fields) => void
  readonly #now: () => number
  readonly #lastByKind = new Map<string, { at: number; unsaid: number }>()

  constructor(write: (reason: Refusal, fields: Fields) => void, now = () => performance.now()) {
    this.#write = write
    this.#now = now
  }

  note(reason: Refusal, fields: Fields): void {
    // Addresses and texts of clients are not part of the key, because their number is unbounded.
    const kind = JSON.stringify([reason, fields['namespace'], fields['serviceAccount']])
    const now = this.#now()
    const last = this.#lastByKind.get(kind)
    if (last !== undefined && now - last.at < GAP_MS) {
      last.unsaid++
      return
    }
    if (this.#lastByKind.size >= MOST_KINDS) this.#lastByKind.clear()
    this.#lastByKind.set(kind, { at: now, unsaid: 0 })
    this.#write(reason, last === undefined || last.unsaid === 0 ? fields : { ...fields, before: last.unsaid })
  }
}

const GAP_MS = 10_000
const MOST_KINDS = 10_000
