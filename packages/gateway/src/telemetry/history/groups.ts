import { Group, type Shape } from './group.ts'

/** Groups by name, up to a maximum; all further names share the group `other`. */
export class Groups {
  readonly #shape: Shape
  readonly #sizes: readonly number[]
  readonly #most: number
  readonly #byName = new Map<string, Group>()
  #sums = new Map<string, Float64Array>()

  constructor(shape: Shape, sizes: readonly number[], most: number) {
    this.#shape = shape
    this.#sizes = sizes
    this.#most = most
  }

  /** Returns the array in which the totals of this name are summed until the next `look`. */
  sumOf(name: string): Float64Array {
    const known = this.#sums.get(name)
    if (known !== undefined) return known
    const isNew = !this.#byName.has(name) && name !== OTHER
    const waiting = this.#sums.size + this.#byName.size
    if (isNew && waiting >= this.#most * 2) return this.sumOf(OTHER)
    const sum = new Float64Array(this.#shape.counters)
    this.#sums.set(name, sum)
    return sum
  }

  /** Passes the sums to the groups. A name whose sums are zero gets no group. */
  look(): void {
    const other = this.#sums.get(OTHER) ?? new Float64Array(this.#shape.counters)
    for (const [name, sum] of this.#sums) {
      if (name === OTHER || sum.every((value) => value === 0)) continue
      const group = this.#group(name)
      if (group === null) sum.forEach((value, i) => (other[i] = (other[i] ?? 0) + value))
      else group.look(sum)
    }
    if (other.some((value) => value !== 0)) this.#otherGroup().look(other)
    this.#sums = new Map()
  }

  close(tier: number): void {
    for (const group of this.#byName.values()) group.close(tier)
  }

  /** Returns the groups with the largest sums of one field. */
  heaviest(
    tier: number,
    count: number,
    { weigh, most, withOpen }: { weigh: readonly number[]; most: number; withOpen: boolean },
  ): { listed: { name: string; group: Group }[]; omitted: number } {
    const weighed = [...this.#byName]
      .map(([name, group]) => {
        const sums = weigh.map((field) => total(group.points(tier, field, count, withOpen)))
        return { name, group, weight: total(sums) }
      })
      .filter(({ weight }) => weight > 0)
      .toSorted((a, b) => b.weight - a.weight)
    return { listed: weighed.slice(0, most), omitted: Math.max(0, weighed.length - most) }
  }

  #group(name: string): Group | null {
    const known = this.#byName.get(name)
    if (known !== undefined) return known
    if (this.#byName.size >= this.#most) return null
    return this.#make(name)
  }

  #otherGroup(): Group {
    return this.#byName.get(OTHER) ?? this.#make(OTHER)
  }

  #make(name: string): Group {
    const group = new Group(this.#shape, this.#sizes)
    this.#byName.set(name, group)
    return group
  }
}

const OTHER = 'other'

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
