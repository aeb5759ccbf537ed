import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Graph, type Query as QueryOf, type Read } from './graph.ts'

interface Context {
  read: Read<Context>
}

type Query<Value> = QueryOf<Context, Value>

const createGraph = (): Graph<Context> => new Graph((read) => ({ read }))

/** Input queries by name. */
function createInputs(values: Map<string, number>): Query<number> {
  return { name: 'input', compute: (_context, arg) => values.get(arg) ?? 0 }
}

/** Reads a value with one input changed. */
function tryWith<Value>(
  graph: Graph<Context>,
  changed: { values: Map<string, number>; input: Query<number>; name: string; value: number },
  query: Query<Value>,
  arg: string,
): Value {
  const { values, input, name, value } = changed
  return graph.attempt(input, name, () => {
    const before = values.get(name)
    values.set(name, value)
    try {
      return graph.read(query, arg)
    } finally {
      if (before === undefined) values.delete(name)
      else values.set(name, before)
    }
  })
}

describe('graph', () => {
  it('recomputes the dependents of a change, and stops at unchanged values', () => {
    const values = new Map([['a', 1]])
    const input = createInputs(values)
    const runs = { parity: 0, text: 0 }
    const parity: Query<number> = { name: 'parity', compute: ({ read }, arg) => (runs.parity++, read(input, arg) % 2) }
    const text: Query<string> = { name: 'text', compute: ({ read }, arg) => (runs.text++, `${read(parity, arg)}`) }
    const graph = createGraph()
    graph.watch(text, 'a')
    assert.deepEqual(graph.settle(), [{ query: text, arg: 'a' }])
    values.set('a', 3)
    graph.invalidate(input, 'a')
    assert.deepEqual(graph.settle(), [])
    assert.deepEqual(runs, { parity: 2, text: 1 })
    values.set('a', 4)
    graph.invalidate(input, 'a')
    assert.deepEqual(graph.settle(), [{ query: text, arg: 'a' }])
    assert.equal(graph.read(text, 'a'), '0')
    assert.deepEqual(runs, { parity: 3, text: 2 })
  })

  it('does not recompute former dependencies: an earlier read decides about a later one', () => {
    const values = new Map([
      ['which', 1],
      ['a', 1],
    ])
    const input = createInputs(values)
    const half: Query<number> = {
      name: 'half',
      compute({ read }, arg) {
        const value = read(input, arg)
        if (value === 0) throw new Error('nobody should ask')
        return value / 2
      },
    }
    const root: Query<number> = {
      name: 'root',
      compute: ({ read }) => (read(input, 'which') === 1 ? read(half, 'a') : -1),
    }
    const graph = createGraph()
    graph.watch(root, '')
    graph.settle()
    values.set('which', 2)
    values.set('a', 0)
    graph.invalidate(input, 'a')
    graph.invalidate(input, 'which')
    graph.settle()
    assert.equal(graph.read(root, ''), -1)
  })

  it('drops values without readers', () => {
    const values = new Map<string, number>()
    const input = createInputs(values)
    const sum: Query<number> = {
      name: 'sum',
      compute: ({ read }, arg) => read(input, `${arg}/x`) + read(input, `${arg}/y`),
    }
    const graph = createGraph()
    for (let index = 0; index < 100; index++) graph.watch(sum, `${index}`)
    graph.settle()
    assert.equal(graph.size, 300)
    for (let index = 0; index < 100; index++) graph.unwatch(sum, `${index}`)
    graph.settle()
    assert.equal(graph.size, 0)
    graph.read(sum, 'once')
    graph.settle()
    assert.equal(graph.size, 0)
  })

  it('reports a cycle, and works afterwards', () => {
    const values = new Map([['loops', 1]])
    const input = createInputs(values)
    const one: Query<number> = {
      name: 'one',
      compute: ({ read }) => (read(input, 'loops') === 1 ? read(other, '') : 1),
    }
    const other: Query<number> = { name: 'other', compute: ({ read }) => read(one, '') + 1 }
    const graph = createGraph()
    assert.throws(() => graph.read(other, ''), /other of  depends on itself/)
    values.set('loops', 0)
    graph.invalidate(input, 'loops')
    assert.equal(graph.read(other, ''), 2)
  })

  it('reports held changes when they are released, and all others at once', () => {
    const values = new Map([
      ['a', 1],
      ['b', 1],
    ])
    const input = createInputs(values)
    const twice: Query<number> = { name: 'twice', compute: ({ read }, arg) => 2 * read(input, arg) }
    const text: Query<string> = { name: 'text', compute: ({ read }, arg) => `${read(twice, arg)}` }
    const graph = createGraph()
    for (const arg of ['a', 'b']) graph.watch(text, arg)
    graph.refresh()
    assert.deepEqual([...graph.args(input)], ['a', 'b'])
    const held = graph.madeOf(input, ['a', 'unknown'])
    assert.deepEqual(graph.settle(held), [{ query: text, arg: 'b' }])
    assert.deepEqual(graph.settle(held), [])
    assert.deepEqual(graph.settle(), [{ query: text, arg: 'a' }])
    graph.unwatch(text, 'a')
    graph.refresh()
    assert.deepEqual([...graph.args(input)], ['b'])
  })

  it('takes an attempt back: values keep their identity, and nothing changed', () => {
    const values = new Map([['a', 1]])
    const input = createInputs(values)
    const box: Query<{ of: number }> = { name: 'box', compute: ({ read }, arg) => ({ of: read(input, arg) }) }
    const other: Query<number> = { name: 'other', compute: ({ read }) => read(input, 'b') + 10 }
    const root: Query<{ of: number }[]> = {
      name: 'root',
      compute: ({ read }) => [read(box, 'a'), ...(read(input, 'a') > 1 ? [{ of: read(other, '') }] : [])],
    }
    const graph = createGraph()
    graph.watch(root, '')
    graph.settle()
    const before = graph.read(root, '')
    const { size, computed } = graph
    assert.deepEqual(tryWith(graph, { values, input, name: 'a', value: 2 }, root, ''), [{ of: 2 }, { of: 10 }])
    assert.equal(graph.read(root, ''), before)
    assert.deepEqual(graph.settle(), [])
    assert.deepEqual([graph.size, graph.computed], [size, computed + 5])
    values.set('b', 5)
    values.set('a', 3)
    graph.invalidate(input, 'a')
    graph.settle()
    assert.deepEqual(graph.read(root, ''), [{ of: 3 }, { of: 15 }])
  })

  it('keeps changes that were due before an attempt, and survives one that fails', () => {
    const values = new Map([['a', 1]])
    const input = createInputs(values)
    const half: Query<number> = {
      name: 'half',
      compute({ read }, arg) {
        if (read(input, arg) === 0) throw new Error('not this one')
        return read(input, arg) / 2
      },
    }
    const graph = createGraph()
    graph.watch(half, 'a')
    assert.throws(() => tryWith(graph, { values, input, name: 'a', value: 0 }, half, 'a'), /not this one/)
    values.set('a', 4)
    graph.invalidate(input, 'a')
    assert.deepEqual(graph.settle(), [{ query: half, arg: 'a' }])
    assert.equal(graph.read(half, 'a'), 2)
  })

  it('gives the same values as computing everything from scratch, in random graphs', () => {
    const layers = fc.array(
      fc.array(fc.record({ reads: fc.array(fc.nat(9), { maxLength: 4 }), modulus: fc.integer({ min: 1, max: 5 }) }), {
        minLength: 1,
        maxLength: 6,
      }),
      { minLength: 1, maxLength: 4 },
    )
    const steps = fc.array(
      fc.record({
        inputs: fc.array(fc.tuple(fc.nat(4), fc.nat(9)), { maxLength: 3 }),
        toggles: fc.array(fc.nat(5), { maxLength: 2 }),
        settles: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    )
    fc.assert(
      fc.property(layers, steps, (shape, changes) => {
        const values = new Map<string, number>()
        const input = createInputs(values)
        const at = (layer: number, index: number): string => `${layer}/${index}`
        /** The values of earlier reads decide which queries of the layer below are read. */
        const node: Query<number> = {
          name: 'node',
          compute({ read }, arg) {
            const [layer = 0, index = 0] = arg.split('/').map(Number)
            const cell = shape[layer]?.[index % (shape[layer]?.length ?? 1)]
            let sum = 0
            for (const target of cell?.reads ?? []) {
              sum += layer === 0 ? read(input, `${(target + sum) % 5}`) : read(node, below(layer, target + sum))
            }
            return sum % (cell?.modulus ?? 1)
          },
        }
        const below = (layer: number, target: number): string => at(layer - 1, target % (shape[layer - 1]?.length ?? 1))
        const top = shape.length - 1
        const graph = createGraph()
        const watched = new Set<string>()
        const known = new Map<string, number>()
        for (const { inputs, toggles, settles } of changes) {
          for (const [name, value] of inputs) {
            values.set(`${name}`, value)
            graph.invalidate(input, `${name}`)
          }
          if (settles) {
            // An attempt must leave no trace.
            const changed = { values, input, name: '0', value: (values.get('0') ?? 0) + 1 }
            for (const arg of watched) tryWith(graph, changed, node, arg)
          }
          for (const toggle of toggles) {
            const arg = at(top, toggle)
            if (watched.delete(arg)) graph.unwatch(node, arg)
            else {
              watched.add(arg)
              graph.watch(node, arg)
            }
            known.delete(arg)
          }
          if (!settles) continue
          const changed = new Set(graph.settle().map(({ arg }) => arg))
          const fresh = createGraph()
          for (const arg of watched) {
            const value = graph.read(node, arg)
            assert.equal(value, fresh.read(node, arg))
            assert.equal(changed.has(arg), known.get(arg) !== value)
            known.set(arg, value)
          }
        }
        for (const arg of watched) graph.unwatch(node, arg)
        graph.settle()
        assert.equal(graph.size, 0)
      }),
      { numRuns: 500 },
    )
  })
})
