import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { eventReader, type McpCaller, type RpcAnswer } from '../../testing/mcp/mcp-caller.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type EventWriter, type ScriptedTarget, type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { until } from '../../testing/scene.ts'

interface Asking extends ScriptedTarget {
  /** The stream by GET. */
  stream: EventWriter | null
  held: { events: EventWriter; request: TargetRequest } | null
}

/** A target that asks its client something in the middle of a call, with these ids. */
async function useAsking(t: TestContext, id: unknown): Promise<Asking> {
  const target: Asking = Object.assign(
    await useTarget(t, (request) => {
      if (request.verb === 'GET') return ((target.stream = request.events()), true)
      if (request.method === '' && target.held !== null) {
        request.response.writeHead(202).end()
        const { events, request: call } = target.held
        events.send({ jsonrpc: '2.0', id: call.id, result: { answered: JSON.parse(request.body) as object } })
        events.end()
        return true
      }
      if (request.method !== 'tools/call') return false
      const events = request.events()
      target.held = { events, request }
      events.send({ jsonrpc: '2.0', id, method: String(request.params['name']), params: { message: 'who?' } })
      return true
    }),
    { stream: null, held: null },
  )
  return target
}

/** Calls, answers what is asked meanwhile, and gives both. */
async function converse(session: McpCaller, tool: string): Promise<{ asked: RpcAnswer; result: RpcAnswer }> {
  const response = await session.open({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params: { name: tool } })
  const next = eventReader(response)
  const asked = JSON.parse((await next())!.data) as RpcAnswer
  const told = await session.send({ jsonrpc: '2.0', id: asked.id, result: { action: 'accept' } })
  assert.equal(told.status, 202)
  const result = JSON.parse((await next())!.data) as RpcAnswer
  assert.equal(await next(), null)
  return { asked, result }
}

describe('a request of a target in the middle of a call', () => {
  for (const id of [0, 7, 'seven', 'portico:x', '', 'a:b:c'])
    for (const method of ['sampling/createMessage', 'elicitation/create', 'roots/list'] as const) {
      it(`${method} with the id ${JSON.stringify(id)} is answered, one target and two`, async (t) => {
        const [first, second] = [await useAsking(t, id), await useAsking(t, id)]
        const alone = await useMcpScene(t, { first })
        const direct = await converse(await alone.caller.begin(), method)
        assert.equal(direct.asked.id, id)
        assert.deepEqual(direct.result.result, { answered: { jsonrpc: '2.0', id, result: { action: 'accept' } } })

        const both = await useMcpScene(t, { first, second }, { backend: { prefixMode: 'Always' } })
        const session = await both.caller.begin()
        const [one, two] = await Promise.all([
          converse(session, `first_${method}`),
          converse(session, `second_${method}`),
        ])
        assert.notEqual(one.asked.id, two.asked.id)
        assert.equal(one.asked.method, method)
        for (const { result } of [one, two]) {
          assert.deepEqual(result.result, { answered: { jsonrpc: '2.0', id, result: { action: 'accept' } } })
        }
      })
    }

  it('also comes by the stream of the session, and its answer reaches the one that asked', async (t) => {
    const [first, second] = [await useAsking(t, 1), await useAsking(t, 1)]
    const { caller } = await useMcpScene(t, { first, second })
    const session = await caller.begin()
    const leaving = new AbortController()
    const next = eventReader(await session.listen({}, leaving.signal))
    await until(() => first.stream !== null && second.stream !== null)
    second.stream!.send({ jsonrpc: '2.0', id: 1, method: 'roots/list' })
    const asked = JSON.parse((await next())!.data) as RpcAnswer
    const before = first.requests.length
    await session.send({ jsonrpc: '2.0', id: asked.id, error: { code: -1, message: 'no' } })
    leaving.abort()
    assert.deepEqual(JSON.parse(second.requests.at(-1)!.body), {
      jsonrpc: '2.0',
      id: 1,
      error: { code: -1, message: 'no' },
    })
    assert.equal(first.requests.length, before)
  })

  it('that nobody asked is answered to nobody', async (t) => {
    const [first, second] = [await useAsking(t, 1), await useAsking(t, 1)]
    const { caller } = await useMcpScene(t, { first, second })
    const session = await caller.begin()
    const heard = first.requests.length + second.requests.length
    for (const id of [1, 'x', 'portico:', 'portico:third:n:1', 'portico:first:n:x']) {
      assert.equal((await session.send({ jsonrpc: '2.0', id, result: {} })).status, 202)
    }
    assert.equal(first.requests.length + second.requests.length, heard)
  })
})

describe('a notification of a client', () => {
  it('reaches every target: cancelled, progress, roots', async (t) => {
    const [first, second] = [await useTarget(t), await useTarget(t)]
    const { caller } = await useMcpScene(t, { first, second })
    const session = await caller.begin()
    for (const method of ['notifications/cancelled', 'notifications/progress', 'notifications/roots/list_changed']) {
      await session.send({ jsonrpc: '2.0', method, params: { requestId: 3 } })
      for (const target of [first, second]) assert.deepEqual(target.asked(method)[0]?.params, { requestId: 3 })
    }
  })
})

describe('requests about everything and about one thing', () => {
  async function useFull(t: TestContext, tools: number) {
    return useTarget(t, (request) => {
      const { method, params } = request
      switch (method) {
        case 'logging/setLevel':
        case 'resources/subscribe':
        case 'resources/unsubscribe':
          return (request.result({}), true)
        case 'completion/complete':
          return (request.result({ completion: { values: [(params['ref'] as { name: string }).name] } }), true)
        case 'tools/list': {
          const page = Number(params['cursor'] ?? 0)
          const next = page + 1 < tools ? { nextCursor: String(page + 1) } : {}
          return (request.result({ tools: [{ name: `t${page}`, inputSchema: {} }], ...next }), true)
        }
        case 'ping':
          return (request.result({}), true)
        default:
          return false
      }
    })
  }

  it('two targets', async (t) => {
    const [first, second] = [await useFull(t, 3), await useFull(t, 2)]
    const { caller } = await useMcpScene(t, { first, second })
    const session = await caller.begin()
    assert.deepEqual((await session.ask('logging/setLevel', { level: 'debug' })).messages[0]?.result, {})
    assert.deepEqual(
      [first, second].map((target) => target.asked('logging/setLevel')[0]?.params),
      [{ level: 'debug' }, { level: 'debug' }],
    )

    const ref = { type: 'ref/prompt', name: 'second_p' }
    const completed = await session.ask('completion/complete', { ref, argument: { name: 'a', value: '' } })
    assert.deepEqual(completed.messages[0]?.result, { completion: { values: ['p'] } })

    for (const method of ['resources/subscribe', 'resources/unsubscribe']) {
      assert.deepEqual((await session.ask(method, { uri: 'first+file:///x' })).messages[0]?.result, {})
      assert.deepEqual([first.asked(method)[0]?.params, second.asked(method).length], [{ uri: 'file:///x' }, 0])
    }

    const { tools } = (await session.ask('tools/list')).messages[0]!.result as { tools: { name: string }[] }
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['first_t0', 'first_t1', 'first_t2', 'second_t0', 'second_t1'],
    )

    const heard = first.requests.length
    assert.deepEqual((await session.ask('ping')).messages[0]?.result, {})
    assert.equal(first.requests.length, heard)
    // With a session, 404 would say that the session is gone.
    const unknown = await session.ask('vendor/x')
    assert.deepEqual([unknown.status, unknown.messages[0]?.error?.code], [200, -32601])
    const nameless = await session.ask('tools/call', {})
    assert.deepEqual([nameless.status, nameless.messages[0]?.error?.code], [200, -32602])
  })

  it('one target answers for itself, also what nobody here has heard of', async (t) => {
    const target = await useTarget(t, (request) =>
      request.method === 'vendor/x' ? (request.result({ own: 1 }), true) : false,
    )
    const { caller } = await useMcpScene(t, { one: target })
    assert.deepEqual((await (await caller.begin()).ask('vendor/x')).messages[0]?.result, { own: 1 })
  })

  it('changes of lists and resources come with the names that clients know', async (t) => {
    const [first, second] = [await useAsking(t, 1), await useAsking(t, 1)]
    const { caller } = await useMcpScene(t, { first, second })
    const session = await caller.begin()
    const leaving = new AbortController()
    const next = eventReader(await session.listen({}, leaving.signal))
    await until(() => first.stream !== null && second.stream !== null)
    second.stream!.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'file:///x' } })
    assert.deepEqual((JSON.parse((await next())!.data) as RpcAnswer).params, { uri: 'second+file:///x' })
    first.stream!.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    assert.equal((JSON.parse((await next())!.data) as RpcAnswer).method, 'notifications/tools/list_changed')
    leaving.abort()
  })
})
