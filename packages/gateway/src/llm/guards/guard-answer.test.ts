import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NativeTexts } from '@portico/chat'
import { chainOf } from './chain.ts'
import { type Guard, PASS } from './guard.ts'
import { guardContext } from './testing/guard-target.ts'
import { guardBody } from './guard-answer.ts'

/** A format whose only text is the first member, of six characters; the number in the next member depends on the text. */
const texts: NativeTexts = {
  record: () => [],
  whole() {
    return [
      { do: 'text', name: 'text', text: 'secret', form: 'text', isWhole: true, start: 8, end: 16 },
      { do: 'depend', on: 'text', within: 'record', json: 'null', start: 21, end: 22 },
    ]
  },
  repeats: false,
}

function guardOf(seen: (readonly string[])[]): Guard {
  return {
    name: 'webhook',
    check(given) {
      seen.push(given)
      return given.includes('secret') ? { kind: 'mask', texts: ['***'], found: ['x'] } : PASS
    },
  }
}

test('a text in a JSON body is masked in its place, with what depends on it', async () => {
  const seen: (readonly string[])[] = []
  const chain = chainOf([guardOf(seen)], 'response')
  const { body } = await guardBody(chain, { json: '{"text":"secret","n":1}', texts }, guardContext([]))
  assert.deepEqual(body, { kind: 'body', json: '{"text":"***","n":null}' })
  assert.deepEqual(seen, [['secret']])
})

test('a body without a match stays as it is', async () => {
  const pass: Guard = { name: 'webhook', check: () => PASS }
  const json = '{"text":"secret","n":1}'
  const { body } = await guardBody(chainOf([pass], 'response'), { json, texts }, guardContext([]))
  assert.deepEqual(body, { kind: 'body', json })
})

test('a body that is not JSON is reported as such, and no guard sees it', async () => {
  const seen: (readonly string[])[] = []
  const chain = chainOf([guardOf(seen)], 'response')
  for (const json of ['', '{"text":"secret"', 'secret'])
    assert.deepEqual(await guardBody(chain, { json, texts }, guardContext([])), { body: null, notes: [] })
  assert.deepEqual(seen, [])
})
