import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configsByTraceKey, TRACE_KEYS } from './trace-keys.ts'

const none = Object.fromEntries(TRACE_KEYS.map((key) => [key, null]))

test('every key is there, with null where nothing applies', () => {
  assert.deepEqual(configsByTraceKey({}), none)
  assert.equal(TRACE_KEYS.length, 17)
})

test('policies stand under their key, by field where their parts have keys of their own', () => {
  const set = [{ name: 'a', value: '1' }]
  assert.deepEqual(configsByTraceKey({ cors: { allowOrigins: ['*'] }, headerModifiers: { request: { set } } }), {
    ...none,
    cors: { allowOrigins: ['*'] },
    requestHeaderModifier: { set },
  })
})

test('policies without a key of their own stand under their name', () => {
  assert.deepEqual(configsByTraceKey({ timeouts: { request: 5 }, retry: { attempts: 2 } }), {
    ...none,
    timeouts: { request: 5 },
    retry: { attempts: 2 },
  })
})

test('joined configs are a list, conditional ones keep their conditions', () => {
  const [first, second] = [{ request: { remove: ['a'] } }, { request: { remove: ['b'] }, response: { remove: ['c'] } }]
  assert.deepEqual(configsByTraceKey({ headerModifiers: [first, second] }), {
    ...none,
    requestHeaderModifier: [{ remove: ['a'] }, { remove: ['b'] }],
    responseHeaderModifier: [{ remove: ['c'] }],
  })
  const conditional = [{ condition: 'true', policy: first }, { policy: { response: { remove: ['d'] } } }]
  assert.deepEqual(configsByTraceKey({ headerModifiers: { conditional }, directResponse: { conditional } }), {
    ...none,
    requestHeaderModifier: { conditional: [{ condition: 'true', policy: { remove: ['a'] } }] },
    responseHeaderModifier: { conditional: [{ policy: { remove: ['d'] } }] },
    directResponse: { conditional },
  })
})
