import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeaderBlock } from '@portico/http'
import { alwaysBearer, placeCredential, byModel } from './provider-kit.ts'

const cases: [sent: [string, string][], bearer: [string, string][], own: [string, string][]][] = [
  [[['Authorization', 'Bearer k-1']], [['Authorization', 'Bearer k-1']], [['x-api-key', 'k-1']]],
  [[['authorization', 'bearer   k-1']], [['authorization', 'Bearer k-1']], [['x-api-key', 'k-1']]],
  [[['authorization', 'Bearer  k-1']], [['authorization', 'Bearer k-1']], [['x-api-key', 'k-1']]],
  [
    [
      ['authorization', 'Bearer k-1'],
      ['authorization', 'Bearer k-2'],
    ],
    [['authorization', 'Bearer k-1']],
    [['x-api-key', 'k-1']],
  ],
  [
    [
      ['x-api-key', 'other'],
      ['authorization', 'Bearer k-1'],
      ['x_goog_api_key', 'another'],
    ],
    [['authorization', 'Bearer k-1']],
    [['x-api-key', 'k-1']],
  ],
  [[['authorization', 'Basic dTpw']], [['authorization', 'Basic dTpw']], [['authorization', 'Basic dTpw']]],
  [[['authorization', 'Bearer ']], [['authorization', 'Bearer ']], [['authorization', 'Bearer ']]],
  [[['api-key', 'k-1']], [['authorization', 'Bearer k-1']], [['x-api-key', 'k-1']]],
  [[['accept', '*/*']], [['accept', '*/*']], [['accept', '*/*']]],
]

test('a credential of the client stands where the vendor looks for it, once, and no other does', () => {
  for (const [sent, bearer, own] of cases) {
    assert.deepEqual(placed(sent, alwaysBearer), bearer, JSON.stringify(sent))
    assert.deepEqual(
      placed(sent, () => 'x-api-key'),
      own,
      JSON.stringify(sent),
    )
  }
})

function placed(sent: [string, string][], headerFor: Parameters<typeof placeCredential>[2]): [string, string][] {
  const headers = HeaderBlock.of(sent)
  placeCredential(headers, { by: 'client' }, headerFor)
  const found: [string, string][] = []
  headers.forEach((name, value) => found.push([name, value]))
  return found
}

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
