import assert from 'node:assert/strict'
import { test } from 'node:test'
import { byModel } from './by-model.ts'

test('each name is looked at once, and only so many short ones are kept', () => {
  const asked: string[] = []
  const of = byModel((model) => {
    asked.push(model)
    return { model }
  })
  assert.equal(of('a'), of('a'))
  assert.deepEqual(of('b'), { model: 'b' })
  assert.deepEqual(asked, ['a', 'b'])
  for (let i = 0; i < 1_000; i++) assert.deepEqual(of(`m${i}`), { model: `m${i}` })
  assert.deepEqual(of('a'), { model: 'a' })
  assert.equal(asked.filter((model) => model === 'a').length, 2)
  const long = 'x'.repeat(1_000)
  assert.notEqual(of(long), of(long))
})
