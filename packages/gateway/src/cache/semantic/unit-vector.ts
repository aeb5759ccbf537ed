/** An embedding of length 1, so that the cosine of the angle between two of them is the sum of products. */
export class UnitVector {
  readonly #values: Float32Array
  /** The positions at which a comparison may stop. */
  readonly #stops: readonly number[]
  /** The lengths of the parts after each stop. */
  readonly #rests: Float32Array

  /** `values` must have the length 1. */
  constructor(values: Float32Array) {
    this.#values = values
    this.#stops = stopsOf(values.length)
    this.#rests = Float32Array.from(this.#stops, (stop) => lengthOf(values.subarray(stop)))
  }

  get dimensions(): number {
    return this.#values.length
  }

  /** The memory of the vector. */
  get bytes(): number {
    return 4 * (this.#values.length + this.#rests.length) + OVERHEAD
  }

  /**
   * Returns the cosine of the angle to a vector of the same dimensions; -Infinity as soon as the cosine cannot reach
   * `floor`, because the rests of two vectors add at most the product of their lengths.
   */
  similarity(other: UnitVector, floor: number): number {
    const values = this.#values
    const others = other.#values
    const stops = this.#stops
    const rests = this.#rests
    const otherRests = other.#rests
    let sum = 0
    let at = 0
    for (let index = 0; index < stops.length; index += 1) {
      const stop = stops[index]!
      sum += productOf(values, others, at, stop)
      at = stop
      if (sum + rests[index]! * otherRests[index]! + ROUNDING < floor) return -Infinity
    }
    return Math.min(1, sum + productOf(values, others, at, values.length))
  }
}

/** Several sums at once keep the processor busy: each addition would wait for the one before. */
function productOf(one: Float32Array, other: Float32Array, start: number, end: number): number {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let at = start
  for (; at + 7 < end; at += 8) {
    a += one[at]! * other[at]! + one[at + 4]! * other[at + 4]!
    b += one[at + 1]! * other[at + 1]! + one[at + 5]! * other[at + 5]!
    c += one[at + 2]! * other[at + 2]! + one[at + 6]! * other[at + 6]!
    d += one[at + 3]! * other[at + 3]! + one[at + 7]! * other[at + 7]!
  }
  for (; at < end; at += 1) a += one[at]! * other[at]!
  return a + b + c + d
}

/** Returns the vector of length 1 with the same direction; null without a direction, or for numbers that are not finite. */
export function toUnitVector(numbers: readonly unknown[] | Float32Array): UnitVector | null {
  if (numbers.length < 1 || numbers.length > MOST_DIMENSIONS) return null
  const values = new Float32Array(numbers.length)
  for (const [at, value] of numbers.entries()) {
    if (typeof value !== 'number') return null
    values[at] = value
  }
  const length = lengthOf(values)
  // Numbers that are too large or too small for 32 bits have become infinite or 0.
  if (!Number.isFinite(length) || length === 0) return null
  return new UnitVector(values.map((value) => value / length))
}

function lengthOf(values: Float32Array): number {
  return Math.sqrt(productOf(values, values, 0, values.length))
}

/** Most vectors are known to differ after a part of the dimensions, so the first stops are close to each other. */
function stopsOf(dimensions: number): readonly number[] {
  const known = stopsByDimensions.get(dimensions)
  if (known !== undefined) return known
  const stops = FIRST_STOPS.filter((stop) => stop < dimensions)
  stopsByDimensions.set(dimensions, stops)
  return stops
}

const FIRST_STOPS = [64, 128, 192, 256, 320, 384, 512, 640, 768, 1_024, 1_536, 2_048, 4_096]
const stopsByDimensions = new Map<number, readonly number[]>()
const MOST_DIMENSIONS = 16_384
/** The error of 32-bit numbers in a cosine. */
const ROUNDING = 1e-5
/** Objects and buffers of a vector, in bytes. */
const OVERHEAD = 400
