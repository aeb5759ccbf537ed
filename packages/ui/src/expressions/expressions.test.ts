import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVariables } from './evaluation-input.ts'
import { markedLine } from './marked-line.ts'
import { readExpressionsSearch } from './search.ts'

function problemAt(line: number, column: number) {
  return { message: 'wrong', line, column, offset: 0, suggestion: null }
}

test('the word at the location of a problem is marked', () => {
  assert.deepEqual(markedLine('request.path ==\n  request.pth && a', problemAt(2, 11)), {
    before: '  request.',
    mark: 'pth',
    after: ' && a',
  })
  assert.deepEqual(markedLine('a ==', problemAt(1, 5)), { before: 'a ==', mark: ' ', after: '' })
  assert.deepEqual(markedLine('a $ b', problemAt(1, 3)), { before: 'a ', mark: '$', after: ' b' })
  assert.deepEqual(markedLine('a', problemAt(9, 1)), { before: '', mark: ' ', after: '' })
})

test('an address holds expressions that look like JSON, and nothing that does not fit', () => {
  assert.deepEqual(readExpressionsSearch({ expression: true, id: 5, phase: 'log', other: 1 }), {
    expression: 'true',
    id: '5',
    phase: 'log',
  })
  assert.deepEqual(readExpressionsSearch({ expression: [1, 'a'], id: {}, phase: 3 }), { expression: '[1,"a"]' })
  assert.deepEqual(readExpressionsSearch({ expression: 'a\r\nb' }), { expression: 'a\nb' })
  assert.deepEqual(readExpressionsSearch({ expression: '' }), {})
})

test('variables are JSON, or the problem is named', () => {
  assert.deepEqual(readVariables('{"jwt": {"sub": "ann"}}'), { variables: { jwt: { sub: 'ann' } } })
  assert.deepEqual(readVariables('  '), { variables: {} })
  assert.match(JSON.stringify(readVariables('{jwt')), /^"Invalid JSON: /)
})
