import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'
import { until } from '../../testing/scene.ts'

const stateless = { backend: { sessionRouting: 'Stateless' } }

const echoing = (t: TestContext, session: string) =>
  useTarget(
    t,
    (request) => {
      if (request.method !== 'tools/call') return false
      if (session !== '' && request.headers['mcp-session-id'] !== session)
        return (request.error(-32000, 'no session', 400), true)
      return (request.result({ content: [] }), true)
    },
    { session },
  )

describe('without ids for clients', () => {
  it('each request begins a session with the target, and ends it', async (t) => {
    const target = await echoing(t, 'mine')
    const { caller } = await useMcpScene(t, { one: target }, stateless)
    for (let round = 1; round <= 2; round += 1) {
      const answer = await caller.with({ 'mcp-protocol-version': '2025-06-18' }).ask('tools/call', { name: 'a' })
      assert.deepEqual(answer.messages[0]?.result, { content: [] })
      assert.equal(answer.headers.get('mcp-session-id'), null)
      assert.equal(target.asked('initialize').length, round)
      assert.equal(target.asked('notifications/initialized').length, round)
      await until(() => target.asked('DELETE').length === round)
    }
    const { params } = target.asked('initialize')[0]!
    assert.deepEqual(
      [params['protocolVersion'], (params['clientInfo'] as { name: string }).name],
      ['2025-06-18', 'portico'],
    )
    assert.ok(target.asked('DELETE').every(({ headers }) => headers['mcp-session-id'] === 'mine'))
  })

  it('a target that names no sessions is told once in a while only', async (t) => {
    const target = await echoing(t, '')
    const { caller } = await useMcpScene(t, { one: target }, stateless)
    for (let round = 0; round < 5; round += 1) {
      assert.equal((await caller.ask('tools/call', { name: 'a' })).status, 200)
    }
    assert.equal(target.asked('initialize').length, 1)
    assert.equal(target.asked('DELETE').length, 0)
  })

  it('a target that begins to name them is told of each', async (t) => {
    let named = false
    const target = await useTarget(t, (request) => {
      if (request.method === 'initialize') {
        if (named) request.response.setHeader('mcp-session-id', 'now')
        return (request.result({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} }), true)
      }
      if (request.method !== 'tools/call') return false
      if (named && request.headers['mcp-session-id'] !== 'now')
        return (request.error(-32000, 'Bad Request: not initialized', 400), true)
      return (request.result({ content: [] }), true)
    })
    const { caller } = await useMcpScene(t, { one: target }, stateless)
    assert.equal((await caller.ask('tools/call', { name: 'a' })).status, 200)
    named = true
    assert.equal((await caller.ask('tools/call', { name: 'a' })).status, 200)
    assert.equal(target.asked('initialize').length, 2)
    await until(() => target.asked('DELETE').length === 1)
  })

  it('clients may begin all the same, and get no id', async (t) => {
    const target = await echoing(t, 'mine')
    const { caller } = await useMcpScene(t, { one: target }, stateless)
    const session = await caller.begin()
    assert.equal(session.session, '')
    assert.equal((await session.ask('tools/call', { name: 'a' })).status, 200)
    await until(() => target.asked('DELETE').length === 2)
  })

  it('only the target that is asked for something begins anything', async (t) => {
    const [one, two] = [await echoing(t, 'a'), await echoing(t, 'b')]
    const { caller } = await useMcpScene(t, { one, two }, stateless)
    assert.equal((await caller.ask('tools/call', { name: 'two_x' })).status, 200)
    await until(() => two.asked('DELETE').length === 1)
    assert.deepEqual([one.requests.length, two.asked('initialize').length], [0, 1])
  })

  it('there is no stream, and nothing to end: 405', async (t) => {
    const { caller } = await useMcpScene(t, { one: await echoing(t, '') }, stateless)
    for (const response of [await caller.listen(), await caller.end()]) {
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST'])
    }
  })

  it('a target that loses the session at once is an error of the gateway, not a session that is gone', async (t) => {
    const target = await useTarget(t, (request) =>
      request.method === 'tools/call' ? (request.error(-32001, 'Session not found', 404), true) : false,
    )
    const { caller } = await useMcpScene(t, { one: target }, stateless)
    const answer = await caller.ask('tools/call', { name: 'a' })
    assert.deepEqual([answer.status, answer.messages[0]?.error?.code], [200, -32603])
    await until(() => target.asked('DELETE').length === 1)
  })
})
