import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { eventReader, McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { mcpConfig, useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type ScriptedTarget, type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { closedPort, httpConfig, until, useGateway } from '../../testing/scene.ts'

interface Forgetful extends ScriptedTarget {
  /** Forgets the session that it has. */
  forget(): void
  /** Begins no session from now on. */
  refuse(): void
}

/** A target with one session at a time; requests with another session id fail in the given way. */
async function useForgetful(t: TestContext, lost: (request: TargetRequest) => void = notFound): Promise<Forgetful> {
  let count = 0
  let current = ''
  let begins = true
  const target = await useTarget(t, (request) => {
    const { verb, method, params, response, headers } = request
    if (method === 'initialize') {
      if (!begins) return (request.error(-32603, 'no room', 503), true)
      current = `s${(count += 1)}`
      response.setHeader('mcp-session-id', current)
      request.result({
        protocolVersion: params['protocolVersion'],
        capabilities: {},
        serverInfo: { name: 'x', version: '1' },
      })
      return true
    }
    if (headers['mcp-session-id'] !== current) return (lost(request), true)
    if (verb === 'GET') {
      const events = request.events()
      events.send({ jsonrpc: '2.0', method: 'notifications/hello', params: { in: current } })
      return true
    }
    if (method === 'tools/call') return (request.result({ in: current }), true)
    if (method === 'tools/list') return (request.result({ tools: [{ name: current, inputSchema: {} }] }), true)
    return false
  })
  return Object.assign(target, { forget: () => void (current = 'gone'), refuse: () => void (begins = false) })
}

const notFound = (request: TargetRequest): void => request.error(-32001, 'Session not found', 404)
const oldStyle = (request: TargetRequest): void =>
  request.json(
    { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'Bad Request: No valid session ID provided' } },
    400,
  )

describe('a target that lost its session', () => {
  for (const [how, lost] of [
    ['404', notFound],
    ['400, as old servers do', oldStyle],
  ] as const) {
    it(`and says so by ${how} is begun with once more, and the call is made again`, async (t) => {
      const target = await useForgetful(t, lost)
      const { caller } = await useMcpScene(t, { one: target })
      const session = await caller.begin({ capabilities: { roots: {} } })
      target.forget()
      const answer = await session.ask('tools/call', { name: 'a' })
      assert.deepEqual(answer.messages[0]?.result, { in: 's2' })
      const [first, second] = target.asked('initialize').map(({ params }) => params)
      assert.deepEqual(second, first)
      assert.equal(target.asked('notifications/initialized').length, 2)
      // The session goes on under its old id.
      assert.deepEqual((await session.ask('tools/call', { name: 'a' })).messages[0]?.result, { in: 's2' })
      assert.equal(target.asked('initialize').length, 2)
    })
  }

  it('is begun with once for fifty calls at once', async (t) => {
    const target = await useForgetful(t)
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    target.forget()
    const answers = await Promise.all(Array.from({ length: 50 }, () => session.ask('tools/call', { name: 'a' })))
    assert.ok(answers.every(({ messages }) => messages[0]?.result?.['in'] === 's2'))
    assert.equal(target.asked('initialize').length, 2)
  })

  it('is begun with once also for a call that hears of it late', async (t) => {
    const held: TargetRequest[] = []
    const target = await useForgetful(t, (request) => {
      if (request.params['name'] === 'late') held.push(request)
      else notFound(request)
    })
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    target.forget()
    const late = session.ask('tools/call', { name: 'late' })
    await until(() => held.length === 1)
    assert.deepEqual((await session.ask('tools/call', { name: 'a' })).messages[0]?.result, { in: 's2' })
    notFound(held[0]!)
    assert.deepEqual((await late).messages[0]?.result, { in: 's2' })
    assert.equal(target.asked('initialize').length, 2)
  })

  it('and forgets again at once makes an honest 404', async (t) => {
    const target = await useForgetful(t)
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    const forgetting = setInterval(() => target.forget(), 0)
    t.after(() => clearInterval(forgetting))
    target.forget()
    let answer = await session.ask('tools/call', { name: 'a' })
    for (let round = 0; round < 50 && answer.status === 200; round += 1)
      answer = await session.ask('tools/call', { name: 'a' })
    assert.deepEqual([answer.status, answer.messages[0]?.error?.code], [404, -32001])
  })

  it('and cannot begin another one fails the call, and is asked again with the next', async (t) => {
    const target = await useForgetful(t)
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    target.forget()
    target.refuse()
    for (let round = 0; round < 2; round += 1) {
      const answer = await session.ask('tools/call', { name: 'a' })
      assert.equal(answer.status, 200, answer.text)
      assert.match(answer.messages[0]!.error!.message, /no room/)
      assert.equal(typeof answer.messages[0]!.id, 'number', 'the id of the call, not of the attempt to begin')
    }
    assert.equal(target.asked('initialize').length, 3)
    // Nobody is asked without a session that used to have one.
    assert.ok(target.asked('tools/call').every(({ headers }) => headers['mcp-session-id'] === 's1'))
  })

  it('is begun with also for a stream', async (t) => {
    const target = await useForgetful(t)
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    target.forget()
    const leaving = new AbortController()
    const next = eventReader(await session.listen({}, leaving.signal))
    assert.match((await next())!.data, /"in":"s2"/)
    leaving.abort()
  })
})

it('a call that may have been heard is not made twice', async (t) => {
  const target = await useTarget(t, (request) => {
    if (request.method !== 'tools/call') return false
    request.response.destroy()
    return true
  })
  const { caller } = await useMcpScene(t, { one: target })
  const answer = await (await caller.begin()).ask('tools/call', { name: 'a' })
  assert.equal(answer.status, 200)
  assert.equal(answer.messages[0]?.error?.code, -32603)
  assert.equal(target.asked('tools/call').length, 1)
  assert.equal(target.asked('initialize').length, 1)
})

describe('a target that cannot be reached when a session begins', () => {
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }

  it('fails the session with FailClosed, and what others have begun is ended', async (t) => {
    const target = await useForgetful(t)
    const { caller } = await useMcpScene(t, { one: target, two: { port: await closedPort() } })
    const answer = await caller.ask('initialize', initialize)
    assert.equal(answer.status, 200)
    assert.match(answer.messages[0]!.error!.message, /target two: /)
    assert.equal(answer.headers.get('mcp-session-id'), null)
    await until(() => target.asked('DELETE').length === 1)
  })

  it('leaves no process behind of those that were started', async (t) => {
    const program = new URL('../../testing/mcp/stdio-server.mjs', import.meta.url).pathname
    const targets = [
      { name: 'pipes', stdio: { cmd: process.execPath, args: [program], maxProcesses: 1 } },
      { name: 'down', static: { host: '127.0.0.1', port: await closedPort() } },
    ]
    const gateway = await useGateway(t, httpConfig([{ backends: [{ mcp: { targets } }] }]))
    const caller = new McpCaller(gateway.port())
    const refusal = async () => (await caller.ask('initialize', initialize)).messages[0]!.error!.message
    assert.match(await refusal(), /^target down: /)
    // Once the first process is gone there is room for another.
    while (!(await refusal()).startsWith('target down: ')) await new Promise((resolve) => setTimeout(resolve, 20))
  })

  it('is left out with FailOpen, and told of the session once it is there', async (t) => {
    const target = await useForgetful(t)
    const late = await useForgetful(t)
    let isUp = false
    const gate = await useTarget(t, (request) => {
      if (!isUp) return (request.response.destroy(), true)
      return (
        void fetch(`http://127.0.0.1:${late.port}/`, {
          method: 'POST',
          headers: { ...(request.headers as Record<string, string>), connection: 'close' },
          body: request.body,
        }).then(async (answer) => {
          const id = answer.headers.get('mcp-session-id')
          if (id !== null) request.response.setHeader('mcp-session-id', id)
          request.json(await answer.text(), answer.status)
        }),
        true
      )
    })
    const { caller } = await useMcpScene(t, { one: target, two: gate }, { backend: { failureMode: 'FailOpen' } })
    const session = await caller.begin()
    const namesOf = async () => {
      const { messages } = await session.ask('tools/list')
      return (messages[0]!.result!['tools'] as { name: string }[]).map(({ name }) => name)
    }
    assert.deepEqual(await namesOf(), ['one_s1'])
    isUp = true
    assert.deepEqual(await namesOf(), ['one_s1', 'two_s1'])
  })

  it('fails also with FailOpen when it is the only one', async (t) => {
    const { caller } = await useMcpScene(
      t,
      { one: { port: await closedPort() } },
      { backend: { failureMode: 'FailOpen' } },
    )
    const answer = await caller.ask('initialize', initialize)
    assert.equal(answer.status, 200)
    assert.match(answer.messages[0]!.error!.message, /^target one: /)
    assert.equal(answer.headers.get('mcp-session-id'), null)
  })
})

describe('a reload while sessions live', () => {
  it('that adds a target tells it of the session, one that removes it does not end it', async (t) => {
    const [one, two] = [await useForgetful(t), await useForgetful(t)]
    const { caller, gateway } = await useMcpScene(t, { one }, { backend: { prefixMode: 'Always' } })
    const session = await caller.begin()
    const listed = async () => JSON.stringify((await session.ask('tools/list')).messages[0]?.result?.['tools'])
    assert.match(await listed(), /one_s1/)
    const always = { backend: { prefixMode: 'Always' } }
    await gateway.reload(JSON.stringify(mcpConfig({ one, two }, always)))
    assert.match(await listed(), /one_s1.*two_s1/)
    await gateway.reload(JSON.stringify(mcpConfig({ two }, always)))
    const left = await listed()
    assert.ok(left.includes('two_s1') && !left.includes('one'))
    assert.equal(two.asked('initialize').length, 1)
  })
})

describe('a target that fails in the middle of a list', () => {
  const paged = (t: TestContext, fails: boolean) =>
    useTarget(t, (request) => {
      if (request.method !== 'tools/list') return false
      const { cursor } = request.params
      if (cursor !== undefined && fails) return (request.response.destroy(), true)
      const page = cursor === undefined ? 1 : 2
      request.result({ tools: [{ name: `p${page}`, inputSchema: {} }], ...(page === 1 && { nextCursor: 'more' }) })
      return true
    })

  it('fails it with FailClosed, and is left out with FailOpen', async (t) => {
    const targets = { one: await paged(t, false), two: await paged(t, true) }
    const closed = await useMcpScene(t, targets)
    const answer = await (await closed.caller.begin()).ask('tools/list')
    assert.match(answer.messages[0]!.error!.message, /^two: /)
    const open = await useMcpScene(t, targets, { backend: { failureMode: 'FailOpen' } })
    const tools = (await (await open.caller.begin()).ask('tools/list')).messages[0]!.result!['tools'] as {
      name: string
    }[]
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['one_p1', 'one_p2'],
    )
  })
})
