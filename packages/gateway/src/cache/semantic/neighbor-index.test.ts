import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { NeighborIndex } from './neighbor-index.ts'
import { toUnitVector, type UnitVector } from './unit-vector.ts'

/** Numbers that are the same for the same seed. */
function numbersOf(seed: number, count: number): number[] {
  let state = seed >>> 0
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 31 - 1
  })
}

function unit(numbers: readonly number[]): UnitVector {
  const vector = toUnitVector(numbers)
  assert.ok(vector)
  return vector
}

/** The cosine, without any shortcut. */
function cosine(one: readonly number[], other: readonly number[]): number {
  const product = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0)
  return product(one, other) / Math.sqrt(product(one, one) * product(other, other))
}

describe('the index of neighbors', () => {
  const dimensions = fc.constantFrom(1, 2, 3, 63, 64, 65, 130, 400, 1_100)
  /** Vectors around a few centers, so that some are near to each other. */
  const point = fc.record({ center: fc.nat(3), noise: fc.nat(500), spread: fc.constantFrom(0, 0.1, 0.5, 3) })
  const numbersAt = ({ center, noise, spread }: { center: number; noise: number; spread: number }, count: number) => {
    const noises = numbersOf(noise + 1_000, count)
    return numbersOf(center, count).map((value, at) => value + spread * (noises[at] ?? 0))
  }

  test('finds the same nearest vector as a search without shortcuts, in one partition only', () => {
    const step = fc.oneof(
      fc.record({ add: point, partition: fc.nat(1), key: fc.nat(30) }),
      fc.record({ remove: fc.nat(30) }),
      fc.record({ ask: point, partition: fc.nat(1), floor: fc.constantFrom(-1, 0.5, 0.9, 0.99) }),
    )
    fc.assert(
      fc.property(dimensions, fc.array(step, { maxLength: 60 }), (count, steps) => {
        const index = new NeighborIndex()
        const stored = new Map<string, { partition: string; numbers: number[]; removed: () => void }>()
        for (const each of steps) {
          if ('add' in each) {
            const [key, partition] = [`k${each.key}`, `p${each.partition}`]
            const numbers = numbersAt(each.add, count)
            stored.get(key)?.removed()
            const { removed } = index.add(partition, { key, vector: unit(numbers), recordId: null })
            stored.set(key, { partition, numbers, removed })
          } else if ('remove' in each) {
            stored.get(`k${each.remove}`)?.removed()
            stored.delete(`k${each.remove}`)
          } else {
            const numbers = numbersAt(each.ask, count)
            const partition = `p${each.partition}`
            const found = index.nearest(partition, { vector: unit(numbers), floor: each.floor }, () => true)
            const known = [...stored.values()].filter((entry) => entry.partition === partition)
            const best = Math.max(-Infinity, ...known.map((entry) => cosine(numbers, entry.numbers)))
            if (found === null) assert.ok(best < each.floor + 1e-4)
            else {
              assert.ok(Math.abs(found.similarity - best) < 1e-4)
              assert.equal(stored.get(found.neighbor.key)?.partition, partition)
            }
          }
        }
        const sizes = [0, 1].map((partition) => index.sizeOf(`p${partition}`))
        assert.equal(sizes[0]! + sizes[1]!, stored.size)
      }),
    )
  })

  test('passes over neighbors that are not usable', () => {
    const index = new NeighborIndex()
    for (const [key, numbers] of Object.entries({ near: [1, 0], far: [1, 1] })) {
      index.add('p', { key, vector: unit(numbers), recordId: null })
    }
    const search = { vector: unit([1, 0]), floor: 0.5 }
    assert.equal(index.nearest('p', search, () => true)?.neighbor.key, 'near')
    assert.equal(index.nearest('p', search, (key) => key !== 'near')?.neighbor.key, 'far')
    assert.equal(
      index.nearest('p', search, () => false),
      null,
    )
  })

  test('knows the neighbor that was used least recently', () => {
    const index = new NeighborIndex()
    const neighbors = ['a', 'b'].map((key) => ({ key, vector: unit([1]), recordId: null }))
    for (const neighbor of neighbors) index.add('p', neighbor)
    assert.equal(index.oldestOf('p'), 'a')
    index.use('p', neighbors[0]!)
    assert.equal(index.oldestOf('p'), 'b')
    assert.equal(index.oldestOf('q'), null)
  })

  test('keeps a newer neighbor when an older one of the same key is removed', () => {
    const index = new NeighborIndex()
    const older = index.add('p', { key: 'a', vector: unit([1, 0]), recordId: 'old' })
    index.add('p', { key: 'a', vector: unit([1, 0]), recordId: 'new' })
    older.removed()
    const found = index.nearest('p', { vector: unit([1, 0]), floor: 0 }, () => true)
    assert.equal(found?.neighbor.recordId, 'new')
  })
})

describe('a vector', () => {
  test('without a direction, or with anything but finite numbers, is none', () => {
    const refused: unknown[][] = [
      [],
      [0],
      [0, 0],
      [NaN],
      [Infinity, 1],
      [1e300],
      [1e-60, 0],
      ['1'],
      [null],
      [[1]],
      [{}],
    ]
    for (const numbers of refused) assert.equal(toUnitVector(numbers), null, JSON.stringify(numbers))
    assert.equal(toUnitVector(Array(16_385).fill(1)), null)
    assert.equal(toUnitVector([3, 4])?.dimensions, 2)
  })

  test('has the cosine of any other vector between -1 and 1, and 1 of itself', () => {
    const numbers = fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 1, maxLength: 100 })
    fc.assert(
      fc.property(numbers, numbers, (one, other) => {
        const count = Math.min(one.length, other.length)
        const [a, b] = [toUnitVector(one.slice(0, count)), toUnitVector(other.slice(0, count))]
        if (a === null || b === null) return
        const similarity = a.similarity(b, -1)
        assert.ok(similarity <= 1 && similarity >= -1 - 1e-5)
        assert.ok(a.similarity(a, 0.99) > 1 - 1e-5)
      }),
    )
  })
})
