import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { CredentialFault } from '../pipeline/cloud-credentials.ts'
import { type ExpiringValue, RenewedCredential } from './renewed-credential.ts'

type Outcome = ExpiringValue<string> | CredentialFault | Error

/** Returns the outcomes one after the other, one for each call of `obtain`. */
function setUp(outcomes: Outcome[], random = () => 0) {
  let now = 0
  let asked = 0
  const reasons: string[] = []
  const renewed = new RenewedCredential<string>({
    cloud: 'gcp',
    what: 'no token',
    obtain() {
      const outcome = outcomes[asked++]!
      return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome)
    },
    monotonic: () => now,
    random,
    failed: (reason) => reasons.push(reason),
  })
  return { renewed, reasons, asked: () => asked, at: (time: number) => (now = time) }
}

const hour = (value: string): ExpiringValue<string> => ({ value, lifetimeMs: 3_600_000 })
const faulty = new CredentialFault('no token: refused')

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await Promise.resolve()
}

test('a credential is obtained once for all waiting callers, and then returned at once', async () => {
  const { renewed, asked } = setUp([hour('a')])
  const [first, second] = [renewed.current(), renewed.current()]
  assert.ok(first instanceof Promise)
  assert.equal(await first, 'a')
  assert.equal(await second, 'a')
  assert.equal(renewed.current(), 'a')
  assert.equal(asked(), 1)
})

test('in its last minute a credential is renewed while the old value stays in use', async () => {
  const { renewed, asked, at } = setUp([hour('a'), hour('b')])
  await renewed.current()
  at(3_539_999)
  assert.equal(renewed.current(), 'a')
  assert.equal(asked(), 1)
  at(3_540_000)
  assert.equal(renewed.current(), 'a')
  assert.equal(renewed.current(), 'a')
  assert.equal(asked(), 2)
  await settle()
  assert.equal(renewed.current(), 'b')
})

test('a credential that is about to expire is not returned', async () => {
  const { renewed, at } = setUp([hour('a'), hour('b')])
  await renewed.current()
  at(3_590_000)
  const waiting = renewed.current()
  assert.ok(waiting instanceof Promise)
  assert.equal(await waiting, 'b')
})

test('a failed renewal keeps the old credential until it expires', async () => {
  const { renewed, at, reasons } = setUp([hour('a'), faulty, faulty, hour('b')])
  await renewed.current()
  at(3_550_000)
  assert.equal(renewed.current(), 'a')
  await settle()
  assert.equal(renewed.current(), 'a')
  at(3_595_000)
  assert.equal(await renewed.current(), faulty)
  assert.deepEqual(reasons, ['no token: refused', 'no token: refused'])
  at(3_597_000)
  assert.equal(await renewed.current(), 'b')
})

test('after failures the credential is requested again with growing pauses', async () => {
  const { renewed, asked, at } = setUp(
    Array.from({ length: 20 }, () => faulty),
    () => 1,
  )
  let now = 0
  for (const pause of [1, 2, 4, 8, 16, 32, 60, 60]) {
    const before = asked()
    assert.equal(await renewed.current(), faulty)
    assert.equal(asked(), before + 1)
    at(now + pause * 1000 - 1)
    assert.equal(renewed.current(), faulty)
    assert.equal(asked(), before + 1)
    now += pause * 1000
    at(now)
  }
})

test('a success forgets earlier failures', async () => {
  const { renewed, asked, at } = setUp([faulty, faulty, { value: 'a', lifetimeMs: 100 }, faulty, hour('b')])
  await renewed.current()
  at(500)
  await renewed.current()
  at(1_500)
  assert.equal(await renewed.current(), 'a')
  at(1_600)
  assert.equal(await renewed.current(), faulty)
  at(2_100)
  assert.equal(await renewed.current(), 'b')
  assert.equal(asked(), 5)
})

test('a short-lived credential is renewed after a fraction of its lifetime', async () => {
  const { renewed, asked, at } = setUp([{ value: 'a', lifetimeMs: 4_000 }, hour('b')])
  await renewed.current()
  at(1_999)
  assert.equal(renewed.current(), 'a')
  assert.equal(asked(), 1)
  at(2_999)
  assert.equal(renewed.current(), 'a')
  assert.equal(asked(), 2)
})

test('a credential without an expiry is requested once', async () => {
  const { renewed, at } = setUp([{ value: 'a', lifetimeMs: Infinity }])
  await renewed.current()
  at(1e15)
  assert.equal(renewed.current(), 'a')
})

test('a credential that has expired, or has no valid lifetime, is a fault', async () => {
  for (const lifetimeMs of [0, -1, Number.NaN]) {
    const { renewed } = setUp([{ value: 'a', lifetimeMs }])
    const found = await renewed.current()
    assert.ok(found instanceof CredentialFault)
    assert.equal(found.reason, 'no token: it has already expired')
  }
})

test('an error is a fault that says nothing of its message', async () => {
  const { renewed, reasons } = setUp([new Error('s3cret')])
  assert.ok((await renewed.current()) instanceof CredentialFault)
  assert.deepEqual(reasons, ['no token: an error'])
})

test('an answer that does not come within five seconds is a fault', async (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const renewed = new RenewedCredential<string>({
    cloud: 'gcp',
    what: 'no token',
    obtain: () => new Promise(() => {}),
    monotonic: () => 0,
    random: () => 0,
    failed: () => {},
  })
  const waiting = renewed.current()
  t.mock.timers.tick(5_000)
  const found = await waiting
  assert.ok(found instanceof CredentialFault)
  assert.equal(found.reason, 'no token: no answer within 5 seconds')
})
