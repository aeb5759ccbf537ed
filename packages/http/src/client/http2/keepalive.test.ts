import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeTime } from '../../../../gateway/src/testing/fake-time.ts'
import { Keepalive, PATIENCE_MS, PING_TIMEOUT_MS, QUIET_MS, SPACING_MS } from './keepalive.ts'

/** A keepalive with a fake connection that records its calls. */
function start() {
  const time = new FakeTime()
  const seen: string[] = []
  const connection = {
    isBusy: true,
    bytesRead: 0,
    /** Answers the last ping. */
    answer: (): void => assert.fail('nothing was asked'),
    ping(answered: () => void) {
      seen.push(`ping at ${Math.round(time.now / 1000)}s`)
      connection.answer = () => {
        connection.bytesRead += 17
        answered()
      }
    },
    changed: () => void seen.push('changed'),
    close: () => void seen.push('close'),
    fellSilent: () => void seen.push('silent'),
  }
  const keepalive = new Keepalive(connection, time.deadlines)
  /** Returns the events within that time. */
  const pass = async (ms: number): Promise<string[]> => {
    seen.length = 0
    await time.advance(ms)
    await new Promise(setImmediate)
    return [...seen]
  }
  return { time, connection, keepalive, pass }
}

test('a connection that answers is never asked', async () => {
  const { keepalive, pass } = start()
  keepalive.watch()
  for (let i = 0; i < 100; i++) {
    keepalive.heard()
    assert.deepEqual(await pass(QUIET_MS / 2), [])
  }
})

test('a quiet connection with open calls is pinged, and goes on when it answers', async () => {
  const { keepalive, connection, pass } = start()
  keepalive.watch()
  assert.deepEqual(await pass(QUIET_MS), ['ping at 30s'])
  assert.equal(keepalive.isAnswered, false)
  connection.answer()
  assert.equal(keepalive.isAnswered, true)
  assert.deepEqual(await pass(PING_TIMEOUT_MS), [])
})

test('a server that answers nothing but pings is asked as seldom as servers of gRPC allow', async () => {
  const { keepalive, connection, time, pass } = start()
  keepalive.watch()
  const pings: number[] = []
  for (let i = 0; i < 600; i++) {
    const seen = await pass(3_000)
    if (!seen.some((what) => what.startsWith('ping'))) continue
    pings.push(time.now)
    connection.answer()
  }
  assert.ok(pings.length >= 5, String(pings.length))
  for (const [index, at] of pings.entries()) {
    const before = pings[index - 1]
    if (before !== undefined) assert.ok(at - before >= SPACING_MS - 6_000, `${at - before}`)
  }
})

test('a connection that does not answer a ping soon takes no calls, and is closed after the timeout', async () => {
  const { keepalive, pass } = start()
  keepalive.watch()
  await pass(QUIET_MS)
  assert.equal(keepalive.isAboutToTell, true)
  assert.deepEqual(await pass(PATIENCE_MS), ['changed'])
  assert.equal(keepalive.isAboutToTell, false)
  assert.equal(keepalive.isAnswered, false)
  assert.deepEqual(await pass(PING_TIMEOUT_MS - PATIENCE_MS - 100), [])
  assert.deepEqual(await pass(100), ['silent'])
})

test('bytes that arrive are a sign of life, though the answer to the ping is stuck behind them', async () => {
  const { keepalive, connection, pass } = start()
  keepalive.watch()
  await pass(QUIET_MS)
  await pass(PATIENCE_MS)
  for (let i = 0; i < 3; i++) {
    connection.bytesRead += 1000
    assert.deepEqual(await pass(PING_TIMEOUT_MS), [])
  }
  assert.deepEqual(await pass(PING_TIMEOUT_MS), ['silent'])
})

test('an answer that came while the worker itself was busy counts', async () => {
  const { keepalive, connection, time } = start()
  keepalive.watch()
  await time.advance(QUIET_MS)
  await time.advance(PATIENCE_MS)
  let silent = false
  connection.fellSilent = () => void (silent = true)
  await time.advance(PING_TIMEOUT_MS)
  // The deadline has passed; pending data of the socket is read before the connection is judged.
  connection.answer()
  await new Promise(setImmediate)
  assert.equal(silent, false)
  assert.equal(keepalive.isAnswered, true)
})

test('an unused connection is left alone, and asked when it is wanted after a long time', async () => {
  const { keepalive, connection, pass } = start()
  keepalive.watch()
  keepalive.heard()
  connection.isBusy = false
  assert.deepEqual(await pass(QUIET_MS - 16), [])
  assert.equal(keepalive.isAwake(), true)
  assert.deepEqual(await pass(2 * QUIET_MS), [])
  assert.equal(keepalive.isAwake(), false)
  assert.equal(keepalive.isAboutToTell, true)
  connection.answer()
  assert.equal(keepalive.isAwake(), true)
})

test('an unused connection that may not be asked is closed instead', async () => {
  const { keepalive, connection, pass } = start()
  connection.isBusy = false
  await pass(QUIET_MS)
  assert.equal(keepalive.isAwake(), false)
  connection.answer()
  await pass(QUIET_MS)
  const seen: string[] = []
  connection.close = () => void seen.push('close')
  connection.ping = () => void seen.push('ping')
  assert.equal(keepalive.isAwake(), false)
  assert.deepEqual(seen, ['close'])
})

test('a call that was given up without a word is a reason to ask at once', async () => {
  const { keepalive, time, pass } = start()
  keepalive.watch()
  keepalive.heard()
  await time.advance(1_000)
  const sentAt = time.now
  await time.advance(2_000)
  keepalive.doubt(sentAt)
  assert.equal(keepalive.isAnswered, false)
  assert.deepEqual(await pass(PATIENCE_MS), ['changed'])
})

test('a call that was given up while others were answered, or at once, is none', async () => {
  const { keepalive, time } = start()
  keepalive.watch()
  const sentAt = time.now
  keepalive.doubt(sentAt)
  await time.advance(2_000)
  keepalive.heard()
  keepalive.doubt(sentAt)
  assert.equal(keepalive.isAnswered, true)
})

test('doubts of one that answered a ping lately change nothing, later ones close it for new calls', async () => {
  const { keepalive, connection, time } = start()
  const seen: string[] = []
  connection.close = () => void seen.push('close')
  keepalive.watch()
  await time.advance(2_000)
  keepalive.doubt(0)
  connection.answer()
  await time.advance(2_000)
  keepalive.doubt(time.now - 1_000)
  assert.deepEqual(seen, [])
  assert.equal(keepalive.isAnswered, true)
  await time.advance(QUIET_MS)
  keepalive.doubt(time.now - 1_000)
  assert.deepEqual(seen, ['close'])
})

test('nothing is asked of a connection that is closed', async () => {
  const { keepalive, pass } = start()
  keepalive.watch()
  keepalive.stop()
  keepalive.watch()
  keepalive.doubt(-1_000)
  assert.deepEqual(await pass(10 * QUIET_MS), [])
})
