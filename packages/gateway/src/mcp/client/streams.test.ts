import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { HastyDeadlines } from '../../testing/http/hasty-deadlines.ts'
import { eventReader, type McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type EventWriter, type ScriptedTarget, type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { until } from '../../testing/scene.ts'

const said = (text: string) => ({ jsonrpc: '2.0', method: 'notifications/message', params: { data: text } })

interface Talker extends ScriptedTarget {
  /** Streams by GET, oldest first, with the id they were asked to go on from. */
  streams: { events: EventWriter; from: string | undefined; end(): void }[]
}

/** A target with a stream of its own; calls break off, and go on by GET. */
async function useTalker(t: TestContext): Promise<Talker> {
  const streams: Talker['streams'] = []
  let asked: unknown = null
  const target = await useTarget(t, (request) => {
    const { verb, method, headers, response } = request
    if (verb === 'GET') {
      const events = request.events()
      const from = headers['last-event-id'] as string | undefined
      streams.push({ events, from, end: () => response.end() })
      if (from === 'call-1') {
        const content = [{ type: 'resource_link', uri: 'file:///x', name: 'x' }]
        events.send({ jsonrpc: '2.0', id: asked, result: { content } }, 'call-2')
        events.end()
      }
      return true
    }
    if (method === 'tools/call') {
      asked = request.id
      const events = request.events()
      events.write('id: call-0\nretry: 50\ndata: \n\n')
      events.send(said('begun'), 'call-1')
      if (request.params['name'] === 'lets-go') events.end()
      else response.socket?.write('', () => response.destroy())
      return true
    }
    return false
  })
  return Object.assign(target, { streams })
}

async function useListening(t: TestContext, session: McpCaller, headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  t.after(() => leaving.abort())
  const response = await session.listen(headers, leaving.signal)
  return { response, next: eventReader(response), leave: () => leaving.abort() }
}

describe('the stream of a session', () => {
  it('forwards the stream of a single target with its event ids', async (t) => {
    const target = await useTalker(t)
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    const { next } = await useListening(t, session, { 'last-event-id': 'mine-7' })
    assert.equal(target.streams[0]?.from, 'mine-7')
    target.streams[0].events.send(said('hello'), 'mine-8')
    assert.deepEqual(await next(), { id: 'mine-8', data: JSON.stringify(said('hello')) })
    target.streams[0].end()
    assert.equal(await next(), null)
  })

  it('merges the streams of two targets, and its event ids contain the positions of both', async (t) => {
    const [one, two] = [await useTalker(t), await useTalker(t)]
    const { caller } = await useMcpScene(t, { one, two })
    const session = await caller.begin()
    const first = await useListening(t, session)
    await until(() => one.streams.length === 1 && two.streams.length === 1)
    one.streams[0]!.events.send(said('from one'), 'a-1')
    assert.match((await first.next())!.data, /from one/)
    two.streams[0]!.events.send(said('from two'), 'b-1')
    const last = await first.next()
    first.leave()
    await useListening(t, session, { 'last-event-id': last!.id })
    await until(() => one.streams.length === 2 && two.streams.length === 2)
    assert.deepEqual([one.streams[1]!.from, two.streams[1]!.from], ['a-1', 'b-1'])
  })

  it('goes on when that of one target ends', async (t) => {
    const [one, two] = [await useTalker(t), await useTalker(t)]
    const deadlines = new HastyDeadlines({ 1000: 10, 2000: 10 })
    const { caller } = await useMcpScene(t, { one, two }, { gateway: { deadlines } })
    const session = await caller.begin()
    const { next } = await useListening(t, session)
    await until(() => one.streams.length === 1 && two.streams.length === 1)
    one.streams[0]!.events.send(said('before'), 'a-1')
    assert.match((await next())!.data, /before/)
    one.streams[0]!.end()
    await until(() => one.streams.length === 2)
    assert.equal(one.streams[1]!.from, 'a-1')
    one.streams[1]!.events.send(said('after'))
    assert.match((await next())!.data, /after/)
    assert.equal(two.streams.length, 1)
  })

  it('that the only target refuses says how to sign in', async (t) => {
    const script = ({ verb, response }: TargetRequest): boolean => {
      if (verb !== 'GET') return false
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="x"', 'set-cookie': 'a=b' }).end()
      return true
    }
    const alone = await useMcpScene(t, { one: await useTarget(t, script) })
    const refused = await (await alone.caller.begin()).listen()
    assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [401, 'Bearer realm="x"'])
    assert.equal(refused.headers.get('set-cookie'), null)
    const both = await useMcpScene(t, { one: await useTarget(t, script), two: await useTarget(t, script) })
    const merged = await (await both.caller.begin()).listen()
    assert.equal(merged.headers.get('www-authenticate'), null, 'nobody knows whose it would be')
  })

  it('is none where the only target has none: 405; of several, the gateway has something to say', async (t) => {
    const quiet = [await useTarget(t), await useTarget(t)] as const
    const alone = await useMcpScene(t, { one: quiet[0] })
    assert.equal((await (await alone.caller.begin()).listen()).status, 405)
    const both = await useMcpScene(t, { one: quiet[0], two: quiet[1] })
    const leaving = new AbortController()
    assert.equal((await (await both.caller.begin()).listen({}, leaving.signal)).status, 200)
    leaving.abort()
  })

  it('is that of the one that has one', async (t) => {
    const one = await useTalker(t)
    const { caller } = await useMcpScene(t, { one, two: await useTarget(t) })
    const { next } = await useListening(t, await caller.begin())
    await until(() => one.streams.length === 1)
    one.streams[0]!.events.send(said('hello'))
    assert.match((await next())!.data, /hello/)
  })

  it('is none either where a target answers with something else', async (t) => {
    const target = await useTarget(t, (request) =>
      request.verb === 'GET' ? (request.json({ status: 'ok' }), true) : false,
    )
    const { caller } = await useMcpScene(t, { one: target })
    assert.equal((await (await caller.begin()).listen()).status, 405)
  })

  for (const hostile of [
    'c',
    's!!',
    `s${'A'.repeat(5000)}`,
    `c${Buffer.from('[["three","x"]]').toString('base64url')}`,
  ]) {
    it(`does not mind a hostile id: ${hostile.slice(0, 20)}`, async (t) => {
      const [one, two] = [await useTalker(t), await useTalker(t)]
      const { caller, gateway } = await useMcpScene(t, { one, two })
      const { response } = await useListening(t, await caller.begin(), { 'last-event-id': hostile })
      assert.ok(response.status === 200 || response.status === 404)
      assert.ok([...one.streams, ...two.streams].every(({ from }) => from === undefined))
      assert.deepEqual(gateway.bugs, [])
    })
  }
})

describe('a call whose stream broke', () => {
  for (const name of ['breaks', 'lets-go']) {
    it(`(it ${name}) goes on by GET, one target`, async (t) => {
      const target = await useTalker(t)
      const { caller } = await useMcpScene(t, { one: target })
      const session = await caller.begin()
      const answer = await session.ask('tools/call', { name })
      assert.equal(answer.status, 200)
      assert.match(answer.text, /^id: call-0\nretry: 50\n/)
      assert.deepEqual(
        answer.messages.map(({ method }) => method),
        ['notifications/message'],
      )
      const { next } = await useListening(t, session, { 'last-event-id': 'call-1' })
      const rest = await next()
      assert.equal(rest!.id, 'call-2')
      assert.equal((JSON.parse(rest!.data) as { id: unknown }).id, 1)
      assert.equal(await next(), null)
    })

    it(`(it ${name}) goes on by GET, two targets, with the names that clients know`, async (t) => {
      const [one, two] = [await useTalker(t), await useTalker(t)]
      const { caller } = await useMcpScene(t, { one, two })
      const session = await caller.begin()
      const response = await session.open({
        jsonrpc: '2.0',
        id: 'q',
        method: 'tools/call',
        params: { name: `two_${name}` },
      })
      const read = eventReader(response)
      let last = ''
      for (let event = await read(); event !== null; event = await read()) last = event.id
      const { next } = await useListening(t, session, { 'last-event-id': last })
      const rest = JSON.parse((await next())!.data) as { id: unknown; result: { content: { uri: string }[] } }
      assert.deepEqual([rest.id, rest.result.content[0]!.uri], ['q', 'two+file:///x'])
      assert.equal(await next(), null)
      assert.equal(one.streams.length, 0)
    })
  }

  it('tells of no tool that rules hide, though the list comes by another stream', async (t) => {
    const list = { tools: ['open', 'secret'].map((name) => ({ name, inputSchema: {} })) }
    const target = await useTarget(t, (request) => {
      if (request.method === 'tools/list') {
        const events = request.events()
        events.write('id: e-0\ndata: \n\n')
        events.end()
        return true
      }
      if (request.verb !== 'GET') return false
      const events = request.events()
      events.send({ jsonrpc: '2.0', id: 1, result: list }, 'e-1')
      events.end()
      return true
    })
    const backend = { mcp: { authorization: { rules: [{ deny: 'mcp.tool.name == "secret"' }] } } }
    const { caller } = await useMcpScene(t, { one: target }, { policies: { backend } })
    const session = await caller.begin()
    assert.match((await session.ask('tools/list')).text, /id: e-0/)
    const { next } = await useListening(t, session, { 'last-event-id': 'e-0' })
    const { data } = (await next())!
    assert.ok(data.includes('open') && !data.includes('secret'), data)
  })
})
