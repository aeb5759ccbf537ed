import { type Deadline, Deadlines } from '@portico/http'

/** Deadlines for tests: a deadline of a listed length ends after the shorter time that is listed for it. */
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
