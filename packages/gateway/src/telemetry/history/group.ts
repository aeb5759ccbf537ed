import { PointRing } from './point-ring.ts'

/** The conversion of the counters of one time step to a point of a series. */
export interface Shape {
  /** The number of counters. */
  readonly counters: number
  /** The number of values in a point. */
  readonly fields: number
  rowOf(counted: Float64Array): readonly number[]
}

/** The series of one name, in time steps of several lengths. */
export class Group {
  readonly #shape: Shape
  /** The totals of the last `look`. */
  #before: Float64Array
  readonly #tiers: { open: Float64Array; ring: PointRing }[]

  /** `sizes` has the number of points for each step length. */
  constructor(shape: Shape, sizes: readonly number[]) {
    this.#shape = shape
    this.#before = new Float64Array(shape.counters)
    this.#tiers = sizes.map((most) => ({
      open: new Float64Array(shape.counters),
      ring: new PointRing(shape.fields, most),
    }))
  }

  /** Adds the growth of the totals since the last call. */
  look(totals: Float64Array): void {
    for (let i = 0; i < totals.length; i++) {
      const more = Math.max(0, (totals[i] ?? 0) - (this.#before[i] ?? 0))
      if (more === 0) continue
      for (const { open } of this.#tiers) open[i] = (open[i] ?? 0) + more
    }
    this.#before = totals
  }

  /** Ends the current step of one length. */
  close(tier: number): void {
    const own = this.#tiers[tier]
    if (own === undefined) return
    const row = this.#shape.rowOf(own.open)
    own.ring.push(row)
    own.open.fill(0)
  }

  /** Returns the last points of one field, oldest first, with zeros for missing points; `withOpen` adds the current step. */
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
