import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CheckQueue, CheckSlots } from './check-queue.ts'
import { Users } from './users.ts'

const alice = { username: 'alice', hash: '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=' }
const password = Buffer.from('password')

test('outcomes are remembered, right and wrong ones', async () => {
  const users = new Users([alice], new CheckSlots())
  for (const [name, text, outcome] of [
    ['alice', 'password', 'accepted'],
    ['alice', 'wrong', 'refused'],
    ['nobody', 'password', 'refused'],
  ] as const) {
    const first = users.check(name, Buffer.from(text))
    assert.ok(first instanceof Promise)
    assert.equal(users.check(name, Buffer.from(text)), first, 'the same check is made once')
    assert.equal(await first, outcome)
    assert.equal(users.check(name, Buffer.from(text)), outcome)
  }
})

test('names and passwords are not run together', async () => {
  const users = new Users([alice], new CheckSlots())
  assert.equal(await users.check('alice', password), 'accepted')
  assert.equal(await users.check('alicepass', Buffer.from('word')), 'refused')
  assert.equal(await users.check('alicepassword', Buffer.alloc(0)), 'refused')
})

test('a few checks run at a time, some wait, more are turned away', async () => {
  const queue = new CheckQueue(new CheckSlots())
  const ends: (() => void)[] = []
  const start = () => queue.run(() => new Promise<void>((resolve) => ends.push(resolve)))
  const accepted = Array.from({ length: 66 }, start)
  assert.ok(accepted.every((each) => each !== null))
  assert.equal(start(), null)
  await new Promise(setImmediate)
  assert.equal(ends.length, 2)
  for (let done = 0; done < 66; done++) {
    assert.ok(ends.length - done <= 2)
    ends[done]!()
    await accepted[done]
    await new Promise(setImmediate)
  }
  const again = start()
  await new Promise(setImmediate)
  ends.at(-1)!()
  await again
})

test('a check that fails makes room', async () => {
  const queue = new CheckQueue(new CheckSlots())
  for (let i = 0; i < 5; i++) await assert.rejects(queue.run(() => Promise.reject(new Error('broken')))!)
  assert.equal(await queue.run(() => Promise.resolve('works')), 'works')
})

test('policies share the places of a worker and take turns: a flood at one holds up no login at another', async () => {
  const slots = new CheckSlots()
  const [flooded, other] = [new CheckQueue(slots), new CheckQueue(slots)]
  const order: string[] = []
  const ends: (() => void)[] = []
  const start = (queue: CheckQueue, name: string) =>
    queue.run(() => {
      order.push(name)
      return new Promise<void>((resolve) => ends.push(resolve))
    })
  const guesses = Array.from({ length: 66 }, () => start(flooded, 'guess'))
  assert.equal(start(flooded, 'guess'), null)
  const login = start(other, 'login')
  assert.ok(login !== null, 'the other has a line of its own')
  await new Promise(setImmediate)
  assert.deepEqual(order, ['guess', 'guess'])
  for (let done = 0; done < 67; done++) {
    ends[done]!()
    await new Promise(setImmediate)
    assert.ok(ends.length - done <= 3, 'more than two at once')
  }
  assert.equal(order.indexOf('login'), 3)
  for (const check of [...guesses, login]) await check
})

test('a check gives way to what waits, and longer while others wait for their turn', async (t) => {
  const slots = new CheckSlots()
  await slots.giveWay()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const queue = new CheckQueue(slots)
  const ends: (() => void)[] = []
  const checks = Array.from({ length: 3 }, () => queue.run(() => new Promise<void>((resolve) => ends.push(resolve))))
  let isBack = false
  const back = slots.giveWay().then(() => (isBack = true))
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  assert.equal(isBack, false)
  t.mock.timers.tick(1)
  await back
  for (let done = 0; done < 3; done++) {
    ends[done]!()
    await new Promise(setImmediate)
  }
  for (const check of checks) await check
  await slots.giveWay()
})
