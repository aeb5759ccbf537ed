import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeTyped, type Parameters } from './parameters.ts'

const merged = (...specs: Parameters[]): ReturnType<typeof mergeTyped> =>
  mergeTyped(specs.map((spec, index) => ({ from: `shop/level-${index}`, spec })))

test('the claims and the shutdown of the last level that has them win', () => {
  const [first, last] = [[{ name: 'first' }], [{ name: 'last' }]]
  assert.deepEqual(merged({ resources: { claims: first } }, {}).resources?.claims, first)
  assert.deepEqual(merged({ resources: { claims: first } }, { resources: { claims: last } }).resources?.claims, last)
  assert.deepEqual(merged({ shutdown: { min: 1, max: 9 } }, {}).shutdown, { min: 1, max: 9 })
  assert.deepEqual(merged({ shutdown: { min: 1, max: 9 } }, { shutdown: { min: 2, max: 3 } }).shutdown, {
    min: 2,
    max: 3,
  })
  assert.equal('shutdown' in merged({}), false)
})

test('parameters without `resources` leave the default requests', () => {
  assert.equal(merged({ logging: { level: 'debug' } }, {}).resources, undefined)
  assert.deepEqual(merged({ resources: {} }, {}).resources, {})
  assert.deepEqual(merged({}, { resources: {} }).resources, {})
})

test('limits and requests are merged by resource', () => {
  const { resources } = merged(
    { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1' } } },
    { resources: { limits: { cpu: '2' } } },
  )
  assert.deepEqual(resources, { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '1' } })
})

test('the last value of a variable wins, at the position of the first', () => {
  const { env } = merged(
    {
      env: [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ],
    },
    {
      env: [
        { name: 'C', value: '3' },
        { name: 'A', value: '4' },
      ],
    },
  )
  assert.deepEqual(
    env?.map(({ name, value }) => `${name}=${value}`),
    ['A=4', 'B=2', 'C=3'],
  )
})
