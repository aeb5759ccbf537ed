import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSigningKey, keySetOf } from '../testing/services/issuer.ts'
import { KeySet } from './key-set.ts'
import { RemoteKeys } from './remote-keys.ts'

const first = keySetOf(createSigningKey('a'))
const second = keySetOf(createSigningKey('b'))

/** Keys with a clock and an issuer that the test controls. */
function setUp(lifetimeMs = 10_000) {
  let now = 0
  let fetches = 0
  const failures: string[] = []
  let answer: () => Promise<string> = () => Promise.resolve(first)
  const keys = new RemoteKeys({
    fetch: async () => {
      fetches++
      return { text: await answer(), lifetimeMs }
    },
    monotonic: () => now,
    random: () => 0.5,
    failed: (reason) => failures.push(reason),
  })
  return {
    keys,
    failures,
    fetches: () => fetches,
    pass: (milliseconds: number) => (now += milliseconds),
    answerWith: (text: string) => (answer = () => Promise.resolve(text)),
    fail: () => (answer = () => Promise.reject(new Error('down'))),
    hold: () => {
      const held = Promise.withResolvers<string>()
      answer = () => held.promise
      return held
    },
  }
}

test('the first need waits for one fetch, later ones do not wait at all', async () => {
  const { keys, fetches } = setUp()
  const waiting = [keys.current(), keys.current(), keys.current()]
  assert.ok(waiting.every((each) => each instanceof Promise))
  const sets = await Promise.all(waiting.map((each) => Promise.resolve(each)))
  assert.equal(fetches(), 1)
  assert.ok(sets[0] instanceof KeySet)
  assert.ok(sets.every((set) => set === sets[0]))
  assert.equal(keys.current(), sets[0])
})

test('keys are renewed behind the scenes before they are stale, and waited for when they are', async () => {
  const { keys, fetches, pass, answerWith } = setUp(10_000)
  const old = await keys.current()
  pass(8_500)
  answerWith(second)
  assert.equal(keys.current(), old, 'nobody waits')
  await keys.renewed()
  assert.equal(fetches(), 2)
  const fresh = keys.current()
  assert.ok(fresh instanceof KeySet)
  assert.notEqual(fresh, old)
  pass(10_001)
  answerWith(first)
  const waited = keys.current()
  assert.ok(waited instanceof Promise, 'a key that was taken out must not be used')
  assert.notEqual(await waited, fresh)
})

test('the same answer leaves the same set', async () => {
  const { keys, pass } = setUp()
  const old = await keys.current()
  pass(20_000)
  assert.equal(await keys.current(), old)
})

test('a failure keeps the last good set, and is not repeated at once', async () => {
  const { keys, fetches, failures, pass, fail, answerWith } = setUp()
  const old = await keys.current()
  fail()
  pass(20_000)
  assert.equal(await keys.current(), old)
  assert.equal(keys.current(), old, 'nobody waits while the next try is not due')
  assert.deepEqual(failures, ['down'])
  assert.equal(fetches(), 2)
  pass(751)
  await keys.current()
  assert.equal(fetches(), 3)
  pass(751)
  assert.equal(keys.current(), old)
  assert.equal(fetches(), 3, 'pauses get longer')
  pass(60_000)
  answerWith(second)
  assert.notEqual(await keys.current(), old)
})

test('without a good set the result is null, for all waiting callers together', async () => {
  const { keys, fetches, fail, pass, answerWith } = setUp()
  fail()
  const waiting = Array.from({ length: 50 }, () => keys.current())
  assert.deepEqual(new Set(await Promise.all(waiting.map((each) => Promise.resolve(each)))), new Set([null]))
  assert.equal(fetches(), 1)
  assert.equal(keys.current(), null)
  assert.equal(keys.renewed(), null)
  pass(1_000)
  answerWith(first)
  assert.ok((await keys.current()) instanceof KeySet)
})

test('answers that are no key set count as failures', async () => {
  const { keys, failures, pass, answerWith } = setUp()
  const old = await keys.current()
  for (const text of ['<html>', '{"keys":[]}', '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}']) {
    answerWith(text)
    pass(100_000)
    assert.equal(await keys.current(), old)
  }
  assert.deepEqual(failures, [
    'the answer has text that is not JSON',
    'the answer has no key that can verify signatures',
    'the answer has no key that can verify signatures',
  ])
})

test('an unknown key asks again, once at a time and not too often', async () => {
  const { keys, fetches, pass, hold } = setUp()
  await keys.current()
  assert.equal(keys.renewed(), null, 'the set was fetched just now')
  pass(1_000)
  const held = hold()
  const asked = [keys.renewed(), keys.renewed()]
  assert.equal(asked[0], asked[1])
  held.resolve(second)
  assert.ok((await asked[0]) instanceof KeySet)
  assert.equal(fetches(), 2)
  assert.equal(keys.renewed(), null)
})

test('keys are renewed at the instant that their lifetime and chance give, and waited for at the end of it', async () => {
  const { keys, fetches, pass, hold } = setUp(10_000)
  const old = await keys.current()
  pass(7_999)
  assert.equal(keys.current(), old)
  assert.equal(fetches(), 1)
  hold()
  pass(1)
  assert.equal(keys.current(), old)
  assert.equal(fetches(), 2, '0.7 and half of 0.2 of the lifetime')
  pass(1_999)
  assert.equal(keys.current(), old)
  pass(1)
  assert.ok(keys.current() instanceof Promise)
})

test('a failed fetch is repeated after a pause that doubles up to a minute', async () => {
  const { keys, fetches, fail, pass } = setUp()
  fail()
  await keys.current()
  // Three quarters of 1, 2, 4 … seconds, and of a minute at most.
  for (const pause of [750, 1_500, 3_000, 6_000, 12_000, 24_000, 45_000, 45_000]) {
    const before = fetches()
    pass(pause - 1)
    assert.equal(keys.current(), null)
    assert.equal(keys.renewed(), null)
    assert.equal(fetches(), before, `${pause} ms`)
    pass(1)
    await keys.current()
    assert.equal(fetches(), before + 1, `${pause} ms`)
  }
})

test('a success ends the pauses that failures made longer', async () => {
  const { keys, fetches, fail, pass, answerWith } = setUp()
  fail()
  await keys.current()
  pass(750)
  await keys.current()
  pass(1_500)
  answerWith(first)
  await keys.current()
  fail()
  pass(10_000)
  await keys.current()
  assert.equal(fetches(), 4)
  pass(750)
  await keys.current()
  assert.equal(fetches(), 5)
})

test('an unknown key does not make keys be fetched before a pause after a failure is over', async () => {
  const { keys, fetches, fail, pass } = setUp()
  await keys.current()
  fail()
  pass(1_000)
  await keys.renewed()
  // The pause after the second failure is longer than the cooldown for unknown keys.
  pass(1_000)
  await keys.renewed()
  assert.equal(fetches(), 3)
  pass(1_499)
  assert.equal(keys.renewed(), null)
  pass(1)
  assert.notEqual(keys.renewed(), null)
})
