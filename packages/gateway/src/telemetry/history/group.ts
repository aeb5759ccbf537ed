import { PointRing } from './point-ring.ts'

/** How the points of a series are made of what was counted in a step. */
export interface Shape {
  /** How many numbers are counted. */
  readonly counters: number
  /** How many numbers a point has. */
  readonly fields: number
  rowOf(counted: Float64Array): readonly number[]
}

/** What is counted under one name, in steps of several lengths. */
export class Group {
  readonly #shape: Shape
  /** Totals at the last look. */
  #before: Float64Array
  readonly #tiers: { open: Float64Array; ring: PointRing }[]

  /** `sizes` are points for each length of a step. */
  constructor(shape: Shape, sizes: readonly number[]) {
    this.#shape = shape
    this.#before = new Float64Array(shape.counters)
    this.#tiers = sizes.map((most) => ({
      open: new Float64Array(shape.counters),
      ring: new PointRing(shape.fields, most),
    }))
  }

  /** The totals as they are now. */
  look(totals: Float64Array): void {
    for (let i = 0; i < totals.length; i++) {
      const more = Math.max(0, (totals[i] ?? 0) - (this.#before[i] ?? 0))
      if (more === 0) continue
      for (const { open } of this.#tiers) open[i] = (open[i] ?? 0) + more
    }
    this.#before = totals
  }

  /** A step of one length is over. */
  close(tier: number): void {
    const own = this.#tiers[tier]
    if (own === undefined) return
    const row = this.#shape.rowOf(own.open)
    own.ring.push(row)
    own.open.fill(0)
  }

  /** The last points of one field, oldest first, and what the step under way has so far. Before it was there it had nothing. */
  points(tier: number, field: number, count: number, withOpen: boolean): number[] {
    const own = this.#tiers[tier]
    if (own === undefined) return []
    const closed = own.ring.last(field, withOpen ? count - 1 : count)
    const open = withOpen ? [this.#shape.rowOf(own.open)[field] ?? NaN] : []
    const known = [...closed, ...open]
    return [...Array<number>(count - known.length).fill(this.#nothing(field)), ...known]
  }

  #nothing(field: number): number {
    return this.#shape.rowOf(new Float64Array(this.#shape.counters))[field] ?? NaN
  }
}
