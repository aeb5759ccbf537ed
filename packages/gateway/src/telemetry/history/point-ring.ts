/** The last points of one series, each a row of numbers. Memory grows with the points up to the maximum. */
export class PointRing {
  readonly #fields: number
  readonly #most: number
  #rows: Float64Array
  /** The number of points ever added. */
  #count = 0

  constructor(fields: number, most: number) {
    this.#fields = fields
    this.#most = most
    this.#rows = new Float64Array(fields * Math.min(FIRST, most))
  }

  get length(): number {
    return Math.min(this.#count, this.#most)
  }

  push(row: ArrayLike<number>): void {
    const at = this.#count % this.#most
    if ((at + 1) * this.#fields > this.#rows.length) this.#grow()
    for (let field = 0; field < this.#fields; field++) this.#rows[at * this.#fields + field] = row[field] ?? NaN
    this.#count++
  }

  /** Returns the last values of one field, oldest first. */
  last(field: number, count: number): number[] {
    const shown = Math.min(count, this.length)
    return Array.from({ length: shown }, (_, index) => {
      const at = (this.#count - shown + index) % this.#most
      return this.#rows[at * this.#fields + field] ?? NaN
    })
  }

  #grow(): void {
    const rows = new Float64Array(Math.min(this.#rows.length * 2, this.#fields * this.#most))
    rows.set(this.#rows)
    this.#rows = rows
  }
}

const FIRST = 16
