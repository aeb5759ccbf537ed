import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '../../../testing/process.ts'
import type { TargetFailure } from '../../transport.ts'
import type { ProcessLink } from '../../hub.ts'
import { ask, begin, failure, fakeServer, pidOf, request, result, useHub } from './test-process.ts'

const STEPS = 400
const big = 'x'.repeat(64 * 1024)

describe('a client that is slower than a process', () => {
  test('stops the process of its session, and gets everything in order', async (t) => {
    const hub = useHub(t)
    const link = hub.workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const pid = await pidOf(link)
    const slow = readSlowly(link)
    assert.ok((await stopsAt(hub.logged)) < STEPS)
    assert.deepEqual(slow.heard, [1])
    slow.goOn()
    assert.equal(await slow.ended, null)
    assert.deepEqual(slow.heard, [...Array.from({ length: STEPS }, (_, at) => at + 1), 'response'])
    assert.equal(await pidOf(link), pid)
  })

  test('that leaves lets it go on', async (t) => {
    const hub = useHub(t)
    const link = hub.workers[0]!.process(fakeServer(), 'one')
    await begin(link)
    const slow = readSlowly(link)
    assert.ok((await stopsAt(hub.logged)) < STEPS)
    slow.call.cancel(new Error('gone'))
    assert.ok(await pidOf(link))
  })

  test('does not stop a process that others share: its own request fails', async (t) => {
    const hub = useHub(t, 2)
    const spec = fakeServer({ processes: 'Shared' })
    const [mine, other] = hub.workers.map((worker, at) => worker.process(spec, `session ${at}`)) as [never, never]
    const slow = readSlowly(mine)
    assert.ok(await pidOf(other))
    await eventually('all said', () => said(hub.logged()) === STEPS)
    slow.goOn()
    assert.equal((await slow.ended)?.message, 'the client did not read the response in time')
    assert.ok(await pidOf(mine))
  })
})

describe('a process that does not read', () => {
  test('is not sent more than it can be expected to hold', async (t) => {
    // It answers the first line and never reads again.
    const script = `read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; exec sleep 600`
    const link = useHub(t).workers[0]!.process(fakeServer({ cmd: 'sh', args: ['-c', script] }), 'one')
    assert.deepEqual(await result(link, request('initialize', {}, 1)), {})
    const text = 'x'.repeat(1024 * 1024)
    const waiting = Array.from({ length: 18 }, () => ask(link, request('echo', { text })))
    const refused = await failure(link, request('echo', { text }))
    assert.deepEqual(refused, { code: 'unavailable', message: 'it does not read its input' })
    link.end()
    for (const answer of waiting) assert.notEqual((await answer).failure, null)
  })
})

/** Asks for much, and takes nothing but the first message until it is told to go on. */
function readSlowly(link: ProcessLink) {
  const heard: unknown[] = []
  const ended = Promise.withResolvers<TargetFailure | null>()
  let isSlow = true
  const params = { steps: STEPS, text: big, _meta: { progressToken: 'p' } }
  const call = link.request(request('progress', params), {
    message({ kind, value }) {
      heard.push(kind === 'response' ? kind : (value.params as { progress: number }).progress)
      if (!isSlow && heard.length % 10 === 0) setImmediate(() => call.resume())
      return !isSlow && heard.length % 10 !== 0
    },
    closed: () => ended.resolve(null),
    failed: (why) => ended.resolve(why),
  })
  return {
    heard,
    call,
    ended: ended.promise,
    goOn() {
      isSlow = false
      call.resume()
    },
  }
}

/** How far it has come when it comes no further. */
async function stopsAt(logged: () => string): Promise<number> {
  let [step, since] = [0, performance.now()]
  await eventually('stopped', () => {
    if (said(logged()) !== step) [step, since] = [said(logged()), performance.now()]
    return step > 0 && performance.now() - since > 300
  })
  return step
}

function said(log: string): number {
  return Math.max(0, ...[...log.matchAll(/said (\d+)/g)].map((match) => Number(match[1])))
}
