import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addCookiePair, cookieLines, cookiePairs, cookieValues, removeCookie, setCookie } from './cookies.ts'
import { HeaderBlock } from './header-block.ts'

function block(...lines: string[]): HeaderBlock {
  return HeaderBlock.of(lines.map((line) => ['Cookie', line] as const))
}

test('cookies are found in all lines', () => {
  const headers = block('a=1; b=2', 'a=3')
  assert.deepEqual(cookieLines(headers), ['a=1; b=2', 'a=3'])
  assert.deepEqual(cookieValues(headers, 'a'), ['1', '3'])
  assert.deepEqual(cookiePairs(cookieLines(headers), 'a'), ['a=1', 'a=3'])
  assert.deepEqual(cookieLines(block()), [])
})

test('a cookie is cut out, and the others keep every byte', () => {
  const headers = block('a=1;  b="2";c', 'a=3', ' d=4 ')
  removeCookie(headers, 'a')
  assert.deepEqual(cookieLines(headers), ['b="2";c', ' d=4 '])
  assert.equal(headers.size, 2)
})

test('headers without the cookie stay as they are', () => {
  const headers = block(' b=2 ;c')
  const before = headers.toText()
  removeCookie(headers, 'a')
  assert.equal(headers.toText(), before)
})

test('a cookie that is set replaces those of its name, and stands last', () => {
  const headers = block('a=1; b=2', 'a=3')
  setCookie(headers, 'a', 'x y;z"')
  assert.deepEqual(cookieLines(headers), ['b=2; a=x%20y%3Bz%22'])
  addCookiePair(headers, 'c=4')
  assert.deepEqual(cookieLines(headers), ['b=2; a=x%20y%3Bz%22; c=4'])
  const empty = block()
  addCookiePair(empty, 'c=4')
  assert.deepEqual(cookieLines(empty), ['c=4'])
})
