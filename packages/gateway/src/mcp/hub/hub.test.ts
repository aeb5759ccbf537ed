import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addWorker, startHub } from '../../testing/hub.ts'
import { eventually } from '../../testing/process.ts'
import type { LogFields, Logger } from '../../telemetry/log/logger.ts'
import { MainHub } from './main-hub.ts'
import { ExpiringMap } from './hub-client.ts'

const LATER = Date.now() + 3_600_000

describe('a revocation', () => {
  test('is known to every worker once it resolves, and to those born later', async () => {
    const { main, workers } = startHub(silent(), 3)
    await workers[1]!.revoke('session', LATER)
    assert.deepEqual(
      workers.map((worker) => worker.isRevoked('session')),
      [true, true, true],
    )
    const born = addWorker(main, 3)
    await Promise.resolve()
    assert.ok(born.isRevoked('session'))
    assert.ok(!born.isRevoked('other'))
  })

  test('does not wait for workers that died', async () => {
    const { main, workers } = startHub(silent(), 2)
    // It never answers.
    main.born(2, () => {})
    const revoked = workers[0]!.revoke('session', LATER)
    let isDone = false
    void revoked.then(() => (isDone = true))
    await new Promise((resolve) => setImmediate(resolve))
    assert.ok(!isDone)
    main.died(2)
    await revoked
  })

  test('is forgotten when it has expired, or when there are too many, which is said', async () => {
    const warnings: string[] = []
    const main = new MainHub({ log: silent((text) => warnings.push(text)), clock: () => 1_000, maxMarks: 2 })
    const worker = addWorker(main, 0)
    for (const session of ['a', 'b', 'c', 'd']) await worker.revoke(session, 2_000)
    const born = addWorker(main, 1)
    await Promise.resolve()
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((session) => born.isRevoked(session)),
      [false, false, true, true],
    )
    assert.equal(warnings.length, 1)
    assert.match(warnings[0]!, /oldest are dropped/)
  })
})

describe('marks', () => {
  test('go when their time is over, and stay as few as they may', () => {
    let now = 0
    let dropped = 0
    const marks = new ExpiringMap({ max: 300, clock: () => now, dropped: () => dropped++ })
    for (let at = 0; at < 200; at++) marks.set({ key: `short ${at}`, value: 'x', expiresAt: 10 })
    now = 10
    for (let at = 0; at < 300; at++) marks.set({ key: `long ${at}`, value: 'y', expiresAt: 20 })
    assert.equal(dropped, 0)
    assert.equal(marks.all().length, 300)
    marks.set({ key: 'long 0', value: 'z', expiresAt: 30 })
    assert.deepEqual([marks.get('long 0'), dropped], ['z', 0])
    marks.set({ key: 'more', value: '', expiresAt: 30 })
    assert.deepEqual([marks.get('long 1'), marks.get('long 0'), dropped], [undefined, 'z', 1])
  })
})

describe('the session id of a target', () => {
  test('is known to all workers, by session and target', async () => {
    const { main, workers } = startHub(silent(), 2)
    workers[0]!.setTargetSession('s', 'a', 'first', LATER)
    workers[0]!.setTargetSession('s', 'a', 'second', LATER)
    assert.equal(workers[0]!.targetSession('s', 'a'), 'second')
    await eventually('spread', () => workers[1]!.targetSession('s', 'a') === 'second')
    assert.equal(workers[1]!.targetSession('s', 'b'), undefined)
    const born = addWorker(main, 2)
    await Promise.resolve()
    assert.equal(born.targetSession('s', 'a'), 'second')
  })
})

describe('mail', () => {
  test('reaches the newest listener, in any worker, in order', async () => {
    const { workers } = startHub(silent(), 2)
    const taken: string[] = []
    workers[0]!.listen('here', (text) => taken.push(`old ${text}`))
    const leave = workers[1]!.listen('here', (text) => taken.push(`new ${text}`))
    const letters = ['1', '2', '3'].map((text) => workers[0]!.send('here', text))
    assert.deepEqual(await Promise.all(letters), [true, true, true])
    leave()
    assert.equal(await workers[1]!.send('here', '4'), true)
    assert.deepEqual(taken, ['new 1', 'new 2', 'new 3', 'old 4'])
  })

  test('that nobody waits for comes back', async () => {
    const { main, workers } = startHub(silent(), 2)
    assert.equal(await workers[0]!.send('nowhere', 'x'), false)
    workers[1]!.listen('there', () => assert.fail('dead'))
    assert.equal(await workers[0]!.send('elsewhere', 'x'), false)
    main.died(1)
    assert.equal(await workers[0]!.send('there', 'x'), false)
  })

  test('on its way to a worker that dies comes back', async () => {
    const { main, workers } = startHub(silent())
    main.born(7, () => {})
    main.received(7, { kind: 'listen', address: 'there', listener: 1 })
    const sent = workers[0]!.send('there', 'x')
    await new Promise((resolve) => setImmediate(resolve))
    main.died(7)
    assert.equal(await sent, false)
  })

  test('for a listener that left meanwhile goes to the one before', async () => {
    const { workers } = startHub(silent(), 2)
    const taken: string[] = []
    workers[0]!.listen('here', (text) => taken.push(text))
    const leave = workers[1]!.listen('here', () => assert.fail('left'))
    await workers[0]!.send('else', '')
    const sent = workers[0]!.send('here', 'x')
    leave()
    assert.equal(await sent, true)
    assert.deepEqual(taken, ['x'])
  })
})

function silent(warn: (message: string, fields?: LogFields) => void = () => {}): Logger {
  return { module: 'mcp', enabled: () => true, error() {}, warn, info() {}, debug() {}, trace() {} }
}
