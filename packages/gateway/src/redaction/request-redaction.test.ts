import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redact } from './redact.ts'
import { isSecretHeader } from './secret-names.ts'
import { seeded } from '../testing/seeded.ts'
import { createRedaction } from './request-redaction.ts'

test('the quick way through a path hides what the thorough one does', () => {
  const random = seeded(3)
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)]!
  const redaction = createRedaction(new Set(['x-pass']))
  const isSecret = (name: string): boolean => isSecretHeader(name) || name.toLowerCase() === 'x-pass'
  const parts = [
    '?',
    '&',
    ';',
    '#',
    '=',
    '%3D',
    '%26',
    '@',
    '/',
    'a',
    'token',
    'page',
    'X-Pass',
    'access_token',
    'code',
    'sig',
  ]
  const values = [...parts, 'eyJa.eyJb.c', 'my-api-key.abc', 'API-Key.abc', 'hi-there', 'https://u:p@h', '1', ' ', '']
  let hidden = 0
  for (let i = 0; i < 20_000; i++) {
    const text = `/${Array.from({ length: 1 + Math.floor(random() * 10) }, () => pick(random() < 0.7 ? parts : values)).join('')}`
    const expected = redact(text, [], isSecret)
    assert.equal(redaction.target(text), expected, text)
    if (expected !== text) hidden++
  }
  assert.ok(hidden > 1000, String(hidden))
})

test('claims that are nested too deep are left out, not fatal', () => {
  let deep: object = {}
  for (let i = 0; i < 50_000; i++) deep = { deep }
  const { unkept } = createRedaction(new Set()).values({ deep })
  assert.match(String(unkept), /RangeError/)
})
