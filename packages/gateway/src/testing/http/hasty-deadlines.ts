import { type Deadline, Deadlines } from '@portico/http'

/** Deadlines that come sooner: those of so many milliseconds after so few. */
export class HastyDeadlines extends Deadlines {
  readonly #sooner: ReadonlyMap<number, number>

  constructor(sooner: Readonly<Record<number, number>>) {
    super()
    this.#sooner = new Map(Object.entries(sooner).map(([ms, fewer]) => [Number(ms), fewer]))
  }

  override set(deadline: Deadline, ms: number): void {
    super.set(deadline, this.#sooner.get(ms) ?? ms)
  }
}
