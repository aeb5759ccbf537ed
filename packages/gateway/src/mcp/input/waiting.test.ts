import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { useFleet } from '../../testing/workers/fleet.ts'
import { HastyDeadlines } from '../../testing/http/hasty-deadlines.ts'
import { McpCaller, type RpcAnswer } from '../../testing/mcp/mcp-caller.ts'
import { mcpConfig, type McpSceneOptions, useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type EventWriter, type ScriptedTarget, type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { closedPort, until } from '../../testing/scene.ts'
import { ANSWER_MS } from './waiting-call.ts'

const ELICIT = { method: 'elicitation/create', params: { message: 'who?', requestedSchema: { type: 'object' } } }
const ABLE = { elicitation: {}, roots: { listChanged: true }, sampling: {}, other: { much: 'more' } }

interface AskingTarget extends ScriptedTarget {
  /** Streams of calls under way, in the order they came. */
  calls: { id: unknown; events: EventWriter; params: Record<string, unknown> }[]
  /** The responses of clients, by the ids of questions. */
  answers: Map<unknown, RpcAnswer>
}

/** A server with sessions that asks these things in each call, and answers with the answers once it has all. */
async function useAsking(
  t: TestContext,
  questions: { method: string; params?: object }[] = [ELICIT],
  more: (request: TargetRequest) => boolean = () => false,
): Promise<AskingTarget> {
  const calls: AskingTarget['calls'] = []
  const answers: AskingTarget['answers'] = new Map()
  const target = await useTarget(t, (request) => {
    if (request.headers['mcp-protocol-version'] === '2026-07-28') return (request.error(-32000, 'no', 400), true)
    if (more(request)) return true
    if (request.method === 'tools/call') {
      const events = request.events()
      calls.push({ id: request.id, events, params: request.params })
      for (const [at, question] of questions.entries())
        events.send({ jsonrpc: '2.0', id: `q-${calls.length}-${at}`, ...question })
      return true
    }
    const message = JSON.parse(request.body || '{}') as RpcAnswer
    if (message.result === undefined && message.error === undefined) return false
    answers.set(message.id, message)
    request.response.writeHead(202).end()
    const [, number, at] = /^q-(\d+)-(\d+)$/.exec(String(message.id)) ?? []
    const call = calls[Number(number) - 1]
    if (call !== undefined && Number(at) === questions.length - 1) finish(call, { answer: message.result })
    return true
  })
  return { ...target, calls, answers }
}

function finish({ id, events }: AskingTarget['calls'][number], structuredContent: object): void {
  events.send({ jsonrpc: '2.0', id, result: { content: [], structuredContent } })
  events.end()
}

interface InputRequired {
  inputRequests: Record<string, { method: string; params?: Record<string, unknown> }>
  requestState: string
}

/** Calls a tool, which asks. */
async function callIt(caller: McpCaller, params: object = {}, capabilities: object = ABLE): Promise<InputRequired> {
  const answer = await caller.askModern('tools/call', { name: 'ask', arguments: { a: 1 }, ...params }, capabilities)
  const { result } = answer.messages.at(-1)!
  assert.deepEqual([answer.status, result?.['resultType']], [200, 'input_required'], answer.text)
  return result as unknown as InputRequired
}

/** Calls it again, with this as the answer to everything. */
function comeBack(
  caller: McpCaller,
  { inputRequests, requestState }: InputRequired,
  { given = { action: 'accept' }, ...params }: { given?: object; [param: string]: unknown } = {},
) {
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, given]))
  const call = { name: 'ask', arguments: { a: 1 }, inputResponses, requestState, ...params }
  return caller.askModern('tools/call', call, ABLE)
}

const lastOf = ({ messages }: { messages: RpcAnswer[] }): RpcAnswer => messages.at(-1)!
const INVALID = { code: -32602, message: 'Invalid or expired requestState: make a new call' }

async function useScene(t: TestContext, target: { port: number }, options: McpSceneOptions = {}) {
  return useMcpScene(t, { one: target }, options)
}

describe('a call that waits for answers', () => {
  it('says what is asked in the words of its revision', async (t) => {
    const url = { mode: 'url', message: 'go', url: 'https://x.test/', elicitationId: 'e-1' }
    const target = await useAsking(t, [
      { ...ELICIT, params: { ...ELICIT.params, _meta: { progressToken: 1, mine: 'x' } } },
      { method: 'elicitation/create', params: url },
      { method: 'roots/list' },
    ])
    const { caller, gateway } = await useScene(t, target)
    const able = { ...ABLE, elicitation: { form: {}, url: { x: 1 } } }
    const { inputRequests, requestState } = await callIt(caller, {}, able)
    assert.deepEqual(inputRequests, {
      'input-1': { ...ELICIT, params: { ...ELICIT.params, _meta: { mine: 'x' } } },
      'input-2': { method: 'elicitation/create', params: { mode: 'url', message: 'go', url: 'https://x.test/' } },
      'input-3': { method: 'roots/list', params: {} },
    })
    assert.match(requestState, /^[\w-]+$/)
    const { params } = target.asked('initialize').at(-1)!
    assert.deepEqual(params['capabilities'], { elicitation: { form: {}, url: {} }, roots: {}, sampling: {} })
    assert.deepEqual(gateway.bugs, [])
  })

  it('goes on with the answers, and is one call to the target', async (t) => {
    const target = await useAsking(t)
    const { caller, gateway } = await useScene(t, target)
    const waiting = await callIt(caller)
    const trace = gateway.trace()
    const done = lastOf(await comeBack(caller, waiting, { given: { action: 'accept', content: { n: 1 } } }))
    assert.deepEqual(done.result?.['structuredContent'], { answer: { action: 'accept', content: { n: 1 } } })
    assert.equal(done.result?.['resultType'], 'complete')
    assert.equal(target.calls.length, 1)
    await gateway.finished(2)
    const records = gateway.records.map(({ mcp }) => [mcp?.method, mcp?.target, mcp?.item?.name, mcp?.outcome])
    assert.deepEqual(records, Array(2).fill(['tools/call', 'one', 'ask', 'ok']))
    const calls = (await trace).filter(({ message }) => message['type'] === 'mcpCall')
    assert.equal(calls.length, 1)
    assert.match(gateway.metrics(), /portico_mcp_requests_total\{[^}]*outcome="ok"[^}]*\} 2/)
    assert.deepEqual(gateway.bugs, [])
  })

  it('says in the trace what is asked', async (t) => {
    const { caller, gateway } = await useScene(t, await useAsking(t))
    const trace = gateway.trace()
    await callIt(caller)
    const asked = (await trace).find(({ message }) => message['type'] === 'mcpInput')?.message
    assert.deepEqual(asked, { type: 'mcpInput', target: 'one', round: 1, requests: ['elicitation/create'] })
  })

  it('asks again for what the client left out', async (t) => {
    const target = await useAsking(t, [ELICIT, ELICIT])
    const { caller } = await useScene(t, target)
    const first = await callIt(caller)
    assert.deepEqual(Object.keys(first.inputRequests), ['input-1', 'input-2'])
    const inputResponses = { 'input-1': { action: 'decline' }, 'input-2': 'nonsense', other: {} }
    const second = lastOf(await comeBack(caller, first, { inputResponses })).result as unknown as InputRequired
    assert.deepEqual(Object.keys(second.inputRequests), ['input-2'])
    assert.notEqual(second.requestState, first.requestState)
    assert.deepEqual(target.answers.get('q-1-0')?.result, { action: 'decline' })
    assert.deepEqual(lastOf(await comeBack(caller, first)).error, INVALID)
    assert.ok(lastOf(await comeBack(caller, second)).result?.['structuredContent'] !== undefined)
  })

  it('is of no use to another caller', async (t) => {
    const target = await useAsking(t)
    const policies = {
      apiKeyAuthentication: { secretRef: { data: { ann: 'key-of-ann-0123456789', bob: 'key-of-bob-0123456789' } } },
    }
    const { caller } = await useScene(t, target, { policies })
    const [ann, bob] = ['ann', 'bob'].map((name) => caller.with({ authorization: `Bearer key-of-${name}-0123456789` }))
    const waiting = await callIt(ann!)
    assert.deepEqual(lastOf(await comeBack(bob!, waiting)).error, INVALID)
    assert.equal(target.answers.size, 0)
    assert.ok(lastOf(await comeBack(ann!, waiting)).result !== undefined)
  })

  it('is bound to what was called', async (t) => {
    const target = await useAsking(t)
    const { caller } = await useMcpScene(t, { one: target, two: await useAsking(t) })
    const waiting = await callIt(caller, { name: 'one_ask', arguments: { a: 1, b: { c: 2, d: 3 } } })
    for (const other of [
      { name: 'one_ask', arguments: { a: 2 } },
      { name: 'one_other', arguments: { a: 1, b: { c: 2, d: 3 } } },
      { name: 'two_ask', arguments: { a: 1, b: { c: 2, d: 3 } } },
    ]) {
      assert.deepEqual(lastOf(await comeBack(caller, waiting, other)).error, INVALID)
    }
    const turned = { ...waiting, requestState: `A${waiting.requestState.slice(1)}` }
    const same = { name: 'one_ask', arguments: { b: { d: 3, c: 2 }, a: 1 } }
    assert.deepEqual(lastOf(await comeBack(caller, turned, same)).error, INVALID)
    assert.equal(target.answers.size, 0)
    assert.ok(lastOf(await comeBack(caller, waiting, same)).result !== undefined)
  })

  it('is given up when nobody comes back in time', async (t) => {
    const target = await useAsking(t)
    const deadlines = new HastyDeadlines({ [ANSWER_MS]: 30 })
    // Idle connections of clients are closed after as long by default, and must not be closed as soon.
    const frontend = { http: { http1IdleTimeout: '5m' } }
    const { caller, gateway } = await useScene(t, target, { frontend, gateway: { deadlines } })
    const waiting = await callIt(caller)
    await until(() => target.asked('notifications/cancelled').length === 1)
    assert.equal(target.asked('notifications/cancelled')[0]!.params['requestId'], target.calls[0]!.id)
    assert.deepEqual(lastOf(await comeBack(caller, waiting)).error, INVALID)
    assert.deepEqual(gateway.bugs, [])
  })

  it('is given up when the client leaves while it goes on', async (t) => {
    const target = await useAsking(t, [ELICIT, ELICIT])
    const { caller } = await useScene(t, target)
    const waiting = await callIt(caller)
    const leaving = new AbortController()
    // Both are answered, and the target takes its time.
    target.calls[0]!.events.send({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 1 },
    })
    const inputResponses = { 'input-1': { action: 'accept' }, 'input-2': { action: 'accept' } }
    const params = { name: 'ask', arguments: { a: 1 }, inputResponses, requestState: waiting.requestState }
    target.calls.length = 0
    caller.openModern('tools/call', params, leaving.signal, ABLE).catch(() => {})
    await until(() => target.answers.size === 2)
    leaving.abort()
    await until(() => target.asked('notifications/cancelled').length === 1)
    assert.deepEqual(lastOf(await comeBack(caller, waiting)).error, INVALID)
  })

  it('may be over before anybody comes back', async (t) => {
    const target = await useAsking(t)
    const { caller } = await useScene(t, target)
    const waiting = await callIt(caller)
    const { events } = target.calls[0]!
    events.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'q-1-0' } })
    finish(target.calls[0]!, { timedOut: true })
    const done = lastOf(await comeBack(caller, waiting))
    assert.deepEqual(done.result?.['structuredContent'], { timedOut: true })
    assert.equal(target.answers.size, 0)
    const broken = await callIt(caller)
    target.calls[1]!.events.end()
    const failed = lastOf(await comeBack(caller, broken))
    assert.match(failed.error?.message ?? '', /^target one: /)
  })

  it('reports progress to the request that goes on with it', async (t) => {
    const target = await useAsking(t, [ELICIT], ({ body, response }) => {
      if (!body.includes('"q-1-0"')) return false
      response.writeHead(202).end()
      const call = target.calls[0]!
      const { progressToken } = call.params['_meta'] as { progressToken: unknown }
      const params = { progressToken, progress: 1 }
      call.events.send({ jsonrpc: '2.0', method: 'notifications/progress', params })
      finish(call, {})
      return true
    })
    const { caller } = await useScene(t, target)
    const waiting = await callIt(caller, { _meta: { progressToken: 'first' } })
    const { messages } = await comeBack(caller, waiting, { _meta: { progressToken: 'second' } })
    assert.deepEqual(
      messages.map(({ params, result }) => params?.['progressToken'] ?? result?.['resultType']),
      ['second', 'complete'],
    )
  })

  it('goes on over a reload, under the rules of the new config', async (t) => {
    const target = await useAsking(t)
    const targets = { one: target }
    const { caller, gateway } = await useScene(t, target)
    const [allowed, denied] = [await callIt(caller), await callIt(caller)]
    await gateway.reload(JSON.stringify(mcpConfig(targets, { backend: { sessionIdleTimeout: '5m' } })))
    assert.ok(lastOf(await comeBack(caller, allowed)).result !== undefined)
    const rules = [{ deny: 'mcp.tool.name == "ask"' }]
    await gateway.reload(
      JSON.stringify(mcpConfig(targets, { policies: { backend: { mcp: { authorization: { rules } } } } })),
    )
    assert.deepEqual(lastOf(await comeBack(caller, denied)).error, { code: -32602, message: 'Unknown tool: ask' })
    assert.equal(target.answers.size, 1)
  })

  it('does not mind a target beside it that fails', async (t) => {
    const target = await useAsking(t)
    const dead = { port: await closedPort() }
    const { caller } = await useMcpScene(t, { dead, one: target }, { backend: { failureMode: 'FailOpen' } })
    const waiting = await callIt(caller, { name: 'one_ask' })
    assert.ok(lastOf(await comeBack(caller, waiting, { name: 'one_ask' })).result !== undefined)
  })
})

describe('a question that the client does not support', () => {
  for (const [what, capabilities, question] of [
    ['nothing at all', {}, ELICIT],
    ['something else', { roots: {} }, ELICIT],
    [
      'forms only',
      { elicitation: {} },
      { method: 'elicitation/create', params: { mode: 'url', url: 'https://x.test' } },
    ],
    ['pages only', { elicitation: { url: {} } }, ELICIT],
    ['no tools', { sampling: {} }, { method: 'sampling/createMessage', params: { tools: [] } }],
    ['all of it, and something unheard of', ABLE, { method: 'client/dance' }],
  ] as const) {
    it(`is an error for the server, where the client can do ${what}`, async (t) => {
      const target = await useAsking(t, [question])
      const { caller } = await useScene(t, target)
      const answer = await caller.askModern('tools/call', { name: 'ask' }, capabilities)
      assert.equal(lastOf(answer).result?.['resultType'], 'complete', answer.text)
      const { error } = target.answers.get('q-1-0')!
      assert.equal(error?.code, -32603)
      assert.match(error.message, new RegExp(`^${question.method} cannot reach the client: `))
    })
  }

  it('keeps sessions apart by what their clients can do', async (t) => {
    const target = await useTarget(t, (request) => {
      if (request.headers['mcp-protocol-version'] === '2026-07-28') return (request.error(-32000, 'no', 400), true)
      if (request.method === 'tools/call') return (request.result({ content: [] }), true)
      return false
    })
    const { caller } = await useScene(t, target)
    for (const capabilities of [{}, { roots: {} }, { roots: { listChanged: true } }, { roots: {}, sampling: {} }, {}]) {
      await caller.askModern('tools/call', { name: 'a' }, capabilities)
    }
    assert.deepEqual(
      target.asked('initialize').map(({ params }) => params['capabilities']),
      [{}, { roots: {} }, { roots: {}, sampling: {} }],
    )
  })

  for (const workers of [1, 2]) {
    it(`is not guessed where several calls are under way in ${workers} workers`, async (t) => {
      let aside: EventWriter | null = null
      const target = await useAsking(t, [], (request) => {
        if (request.verb !== 'GET') return false
        // As servers do: a session has one stream of its own.
        if (aside !== null) request.response.writeHead(409).end()
        else aside = request.events()
        return true
      })
      const fleet = await useFleet(t, { workers })
      await fleet.apply(mcpConfig({ one: target }))
      const caller = new McpCaller(fleet.port(), { connection: 'close' })
      await caller.askModern('tools/list', {}, ABLE)
      const call = (id: number) => caller.askModern('tools/call', { name: 'ask', arguments: { id } }, ABLE)
      const calls = [1, 2, 3, 4, 5, 6].map(call)
      await until(() => target.calls.length === calls.length)
      aside!.send({ jsonrpc: '2.0', id: 'whose', ...ELICIT })
      await until(() => target.answers.has('whose'))
      assert.match(target.answers.get('whose')!.error!.message, /several calls are running/)
      for (const under of target.calls) finish(under, {})
      for (const answer of await Promise.all(calls)) assert.equal(lastOf(answer).result?.['resultType'], 'complete')
      const alone = call(7)
      await until(() => target.calls.length === calls.length + 1)
      aside!.send({ jsonrpc: '2.0', id: 'its', ...ELICIT })
      assert.equal(lastOf(await alone).result?.['resultType'], 'input_required')
      assert.equal(fleet.logged(), '')
    })
  }
})
