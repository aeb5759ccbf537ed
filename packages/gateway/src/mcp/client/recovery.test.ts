import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { FakeTime } from '../../testing/fake-time.ts'
import { eventReader, type McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type EventWriter, type Script, useTarget } from '../../testing/mcp/mcp-target.ts'
import { LostTargets } from '../engine/lost-targets.ts'
import { until } from '../../testing/scene.ts'

const CHANGED = ['tools', 'prompts', 'resources'].map((list) => `notifications/${list}/list_changed`)

/** Answers lists with one tool, once it is up; until then it breaks every connection. */
function failing(state: { isUp: boolean }): Script {
  return (request) => {
    if (request.method === 'subscriptions/listen' && state.isUp) {
      const params = {
        notifications: request.params['notifications'],
        _meta: { 'io.modelcontextprotocol/subscriptionId': request.id },
      }
      request.events().send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params })
      return true
    }
    if (!state.isUp) return (request.response.destroy(), true)
    if (request.method !== 'tools/list') return false
    request.result({ tools: [{ name: 'a', inputSchema: { type: 'object' } }] })
    return true
  }
}

/** One target that is well and one that is not, whose tools the list then lacks. */
async function setUp(t: TestContext) {
  const time = new FakeTime()
  const state = { isUp: false }
  const well = await useTarget(t, failing({ isUp: true }))
  /** Those that sessions have with the other target. */
  const streams: EventWriter[] = []
  const failingOther = failing(state)
  const other = await useTarget(t, (request) => {
    if (request.verb !== 'GET' || !state.isUp) return failingOther(request)
    streams.push(request.events())
    return true
  })
  const scene = await useMcpScene(
    t,
    { well, other },
    { backend: { failureMode: 'FailOpen' }, gateway: { deadlines: time.deadlines } },
  )
  return { ...scene, time, state, other, streams }
}

const toolsOf = async (ask: ReturnType<McpCaller['ask']>) =>
  ((await ask).messages[0]!.result!['tools'] as { name: string }[]).map(({ name }) => name)

async function methodsFrom(next: ReturnType<typeof eventReader>, count: number): Promise<string[]> {
  return Array.fromAsync({ length: count }, async () => (JSON.parse((await next())!.data) as { method: string }).method)
}

describe('a target that FailOpen left out is announced when it is back', () => {
  it('on the stream of a session, though nobody asks for it', async (t) => {
    const { caller, time, state, other, gateway } = await setUp(t)
    const session = await caller.begin()
    const leaving = new AbortController()
    const next = eventReader(await session.listen({}, leaving.signal))
    assert.deepEqual(await toolsOf(session.ask('tools/list')), ['well_a'])
    const asked = other.requests.length
    await time.advance(2_000)
    await until(() => other.requests.length > asked)
    state.isUp = true
    const announced = methodsFrom(next, 3)
    const waiting = { isOver: false }
    void announced.then(() => (waiting.isOver = true))
    // The first probe came too early, and the pause after it begins when its failure is known.
    while (!waiting.isOver) await time.advance(1_000).then(() => new Promise(setImmediate))
    assert.deepEqual(await announced, CHANGED)
    assert.deepEqual(await toolsOf(session.ask('tools/list')), ['well_a', 'other_a'])
    assert.deepEqual(gateway.bugs, [])
    leaving.abort()
  })

  it('when another client finds it there', async (t) => {
    const { caller, state } = await setUp(t)
    const session = await caller.begin()
    const leaving = new AbortController()
    const next = eventReader(await session.listen({}, leaving.signal))
    state.isUp = true
    assert.deepEqual(await toolsOf((await caller.begin()).ask('tools/list')), ['well_a', 'other_a'])
    assert.deepEqual(await methodsFrom(next, 3), CHANGED)
    leaving.abort()
  })

  it('and what it says on its own account is heard from then on', async (t) => {
    const { caller, state, streams } = await setUp(t)
    const session = await caller.begin()
    const leaving = new AbortController()
    const next = eventReader(await session.listen({}, leaving.signal))
    state.isUp = true
    await (await caller.begin()).ask('tools/list')
    assert.deepEqual(await methodsFrom(next, 3), CHANGED)
    await until(() => streams.length === 1)
    streams[0]!.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'here' } })
    assert.deepEqual(await methodsFrom(next, 1), ['notifications/message'])
    leaving.abort()
  })

  it('to a subscription, as far as it asked for it', async (t) => {
    const { caller, state } = await setUp(t)
    const leaving = new AbortController()
    const listening = caller.openModern(
      'subscriptions/listen',
      { notifications: { promptsListChanged: true } },
      leaving.signal,
    )
    const next = eventReader(await listening)
    const [acknowledged] = await methodsFrom(next, 1)
    assert.equal(acknowledged, 'notifications/subscriptions/acknowledged')
    state.isUp = true
    await caller.askModern('tools/list')
    assert.deepEqual(await methodsFrom(next, 1), ['notifications/prompts/list_changed'])
    leaving.abort()
  })

  it('and is not asked for ever once nobody misses it', async () => {
    const time = new FakeTime()
    const recovered: string[] = []
    const lost = new LostTargets({ deadlines: time.deadlines, recovered: (target) => recovered.push(target) })
    let probes = 0
    const probe = () => Promise.resolve(++probes > 100)
    lost.missed('one', probe)
    for (let minutes = 0; minutes < 15; minutes++) {
      for (let second = 0; second < 60; second += 2) await time.advance(2_000)
    }
    // After 2, 4, 8, 16 and 30 seconds, then every 30 until ten minutes are over.
    assert.ok(probes > 15 && probes < 30, `${probes} probes`)
    assert.deepEqual(recovered, [])
    lost.answered('one')
    assert.deepEqual(recovered, [], 'nobody waits for it any more')
  })
})
