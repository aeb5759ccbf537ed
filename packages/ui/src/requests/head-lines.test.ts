import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changedLines } from './head-lines.ts'

function printed(...heads: Parameters<typeof changedLines>): string[] {
  return changedLines(...heads).map(({ name, value, fate }) => `${MARKS[fate]}${name}: ${value}`)
}

const MARKS = { same: ' ', gone: '-', added: '+' }

test('lines that policies removed, changed and set stand beside unchanged lines', () => {
  const came = { host: 'a', authorization: '<redacted>', 'x-env': 'test' }
  const left = { host: 'a', 'x-env': 'live', 'x-user': 'ann' }
  assert.deepEqual(printed(came, left), [
    ' host: a',
    '-authorization: <redacted>',
    '-x-env: test',
    '+x-env: live',
    '+x-user: ann',
  ])
})

test('only changed lines are marked among several of one name', () => {
  assert.deepEqual(printed({ via: ['a', 'b', 'a'] }, { via: ['a', 'b', 'c'] }), [
    ' via: a',
    ' via: b',
    '-via: a',
    '+via: c',
  ])
})

test('names that objects have of their own are names like others', () => {
  assert.deepEqual(printed({ accept: '*/*' }, JSON.parse('{"accept":"*/*","constructor":"x"}')), [
    ' accept: */*',
    '+constructor: x',
  ])
})
