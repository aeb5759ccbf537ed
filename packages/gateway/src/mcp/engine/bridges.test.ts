import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { McpServer as Sdk1Server } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import type { TestGateway } from '../../testing/gateway.ts'
import { eventReader, McpCaller, type RpcAnswer } from '../../testing/mcp/mcp-caller.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../../testing/mcp/mcp-server.ts'
import { type EventWriter, type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { httpConfig, until, useGateway } from '../../testing/scene.ts'

interface NewerServer {
  port: number
  /** JSON-RPC methods, as they came. */
  asked: string[]
  /** Notifies listeners that the list of tools has changed. */
  change(): void
}

/** A server by the second major line of the SDK that knows 2026-07-28 and nothing before it. */
async function useNewerServer(t: TestContext): Promise<NewerServer> {
  const asked: string[] = []
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: 'newer', version: '2.0.0' },
        { capabilities: { tools: { listChanged: true } }, instructions: 'Be new.' },
      )
      const schema = { type: 'object', properties: { text: { type: 'string' } } } as const
      server.registerTool('echo', { inputSchema: fromJsonSchema<{ text: string }>(schema) }, ({ text }) => ({
        content: [{ type: 'text', text }],
      }))
      return server
    },
    { legacy: 'reject' },
  )
  const handle = toNodeHandler(handler)
  const http = createServer((request, response) => {
    asked.push(String(request.headers['mcp-method'] ?? request.method))
    void handle(request, response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(async () => {
    await handler.close()
    http.closeAllConnections()
    http.close()
  })
  return { port: (http.address() as AddressInfo).port, asked, change: () => handler.notify.toolsChanged() }
}

async function useClient(t: TestContext, gateway: TestGateway): Promise<Client> {
  const client = new Client({ name: 'old', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${gateway.port()}/mcp`)))
  t.after(() => client.close())
  return client
}

describe('a client with sessions and a server without', () => {
  it('get along, as if the server had them', async (t) => {
    const server = await useNewerServer(t)
    const { gateway } = await useMcpScene(t, { one: server })
    const client = await useClient(t, gateway)
    assert.deepEqual([client.getServerVersion()?.name, client.getInstructions()], ['newer', 'Be new.'])
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['echo'],
    )
    const result = await client.callTool({ name: 'echo', arguments: { text: 'hi' } })
    assert.deepEqual(result.content, [{ type: 'text', text: 'hi' }])
    assert.ok(!('resultType' in result))
    await client.ping()
    assert.deepEqual(gateway.bugs, [])
    // Discovery was requested once, and the server got no message that its revision lacks.
    assert.equal(server.asked.filter((method) => method === 'server/discover').length, 1)
    assert.ok(!server.asked.includes('notifications/initialized') && !server.asked.includes('ping'))
  })

  it('also among servers with sessions, in any worker', async (t) => {
    const server = await useNewerServer(t)
    const older = await useMcpServer(t)
    const sessionKey = '0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccddeeff1'
    const { gateway, caller } = await useMcpScene(t, { newer: server, older }, { gateway: { sessionKey } })
    const client = await useClient(t, gateway)
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['newer_echo', 'older_echo'],
    )
    for (const name of ['newer_echo', 'older_echo']) {
      assert.deepEqual((await client.callTool({ name, arguments: { text: name } })).content, [
        { type: 'text', text: name },
      ])
    }
    const { session } = await caller.begin()
    const other = await useMcpScene(t, { newer: server, older }, { gateway: { sessionKey } })
    const answer = await other.caller
      .with({ 'mcp-session-id': session })
      .ask('tools/call', { name: 'newer_echo', arguments: { text: 'there' } })
    assert.deepEqual(answer.messages.at(-1)?.result?.['content'], [{ type: 'text', text: 'there' }])
  })

  it('changes of its lists reach the client', async (t) => {
    const server = await useNewerServer(t)
    const { caller } = await useMcpScene(t, { one: server })
    const session = await caller.begin()
    const leaving = new AbortController()
    t.after(() => leaving.abort())
    const next = eventReader(await session.listen({}, leaving.signal))
    await until(() => server.asked.includes('subscriptions/listen'))
    // It listens a moment after it was asked to.
    const telling = setInterval(() => server.change(), 20)
    t.after(() => clearInterval(telling))
    const heard = JSON.parse((await next())!.data) as { method: string; params?: object }
    assert.equal(heard.method, 'notifications/tools/list_changed')
    assert.ok(!JSON.stringify(heard).includes('subscriptionId'))
  })

  for (const name of ['tools/call', 'completion/complete']) {
    it(`end a request that the client gives up: ${name}`, async (t) => {
      const held = Promise.withResolvers<TargetRequest>()
      const target = await useTarget(t, (request) => {
        if (request.method === 'server/discover') {
          const found = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, resultType: 'complete' }
          return (request.result(found), true)
        }
        if (request.method === name) held.resolve(request)
        else request.error(-32601, 'no', 404)
        return true
      })
      const { caller, gateway } = await useMcpScene(t, { one: target })
      const session = await caller.begin()
      const params = { name: 'a', ref: { type: 'ref/prompt', name: 'a' } }
      const call = session.send({ jsonrpc: '2.0', id: 7, method: name, params })
      const closed = once((await held.promise).response, 'close')
      const cancel = (requestId: unknown) =>
        session.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
      await cancel('7')
      await cancel(8)
      assert.equal((await held.promise).response.closed, false)
      await cancel(7)
      await closed
      assert.match((await call).text, /cancelled the request/)
      assert.deepEqual(gateway.bugs, [])
    })
  }

  it('get along where clients have no ids, too', async (t) => {
    const server = await useNewerServer(t)
    const { caller } = await useMcpScene(t, { one: server }, { backend: { sessionRouting: 'Stateless' } })
    for (let round = 0; round < 3; round += 1) {
      const answer = await caller.ask('tools/call', { name: 'echo', arguments: { text: 'hi' } })
      assert.deepEqual(answer.messages.at(-1)?.result?.['content'], [{ type: 'text', text: 'hi' }])
    }
    assert.equal(server.asked.filter((method) => method === 'server/discover').length, 1)
  })

  for (const [how, refuse] of [
    ['-32601', { code: -32601, status: 200 }],
    ['-32601 with 404', { code: -32601, status: 404 }],
    ['-32022 with 400', { code: -32022, status: 400 }],
    ['400 without a word', { code: 0, status: 400 }],
    ['405', { code: 0, status: 405 }],
  ] as const) {
    it(`is noticed by ${how}`, async (t) => {
      const target = await useTarget(t, (request) => {
        if (request.method === 'initialize') {
          if (refuse.code === 0) request.response.writeHead(refuse.status).end()
          else request.error(refuse.code, 'what?', refuse.status)
          return true
        }
        if (request.method !== 'server/discover') return false
        return (
          request.result({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
          true
        )
      })
      const { caller } = await useMcpScene(t, { one: target })
      assert.notEqual((await caller.begin({ protocolVersion: '2025-06-18' })).session, '')
      const { params, headers } = target.asked('server/discover')[0]!
      const meta = params['_meta'] as Record<string, unknown>
      assert.equal(meta['io.modelcontextprotocol/protocolVersion'], '2026-07-28')
      assert.deepEqual(meta['io.modelcontextprotocol/clientCapabilities'], {})
      assert.deepEqual([headers['mcp-method'], headers['mcp-protocol-version']], ['server/discover', '2026-07-28'])
    })
  }

  for (const status of [401, 403, 500, 503]) {
    it(`is not what ${status} means`, async (t) => {
      const target = await useTarget(t, ({ method, response }) =>
        method === 'initialize' ? (response.writeHead(status).end(), true) : false,
      )
      const { caller } = await useMcpScene(t, { one: target })
      const answer = await caller.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} })
      assert.equal(answer.status, status < 500 ? status : 200)
      if (status >= 500) assert.match(answer.messages[0]!.error!.message, new RegExp(`HTTP ${status}`))
      assert.equal(target.asked('server/discover').length, 0)
    })
  }
})

/** Discovers, lists and calls as clients without sessions do. */
async function useModern(caller: McpCaller, tool: string): Promise<unknown[]> {
  const discovered = (await caller.askModern('server/discover')).messages.at(-1)?.result
  assert.ok((discovered!['supportedVersions'] as string[]).includes('2026-07-28'), JSON.stringify(discovered))
  const listed = (await caller.askModern('tools/list')).messages.at(-1)?.result
  assert.equal(listed?.['resultType'], 'complete')
  const called = (await caller.askModern('tools/call', { name: tool, arguments: { text: 'hi' } })).messages.at(
    -1,
  )?.result
  assert.equal(called?.['resultType'], 'complete', JSON.stringify(called))
  return [(listed['tools'] as { name: string }[]).map(({ name }) => name), called['content']]
}

describe('a client without sessions and a server with them', () => {
  const hi = [{ type: 'text', text: 'hi' }]

  it('get along: the caller has one session with it', async (t) => {
    const server = await useMcpServer(t)
    const { caller } = await useMcpScene(t, { one: server })
    for (let round = 0; round < 3; round += 1) assert.deepEqual(await useModern(caller, 'echo'), [['echo'], hi])
    assert.equal(server.sessions(), 1)
  })

  it('get along when the server forgets', async (t) => {
    const server = await useMcpServer(t)
    const { caller } = await useMcpScene(t, { one: server })
    await useModern(caller, 'echo')
    server.forget()
    assert.deepEqual(await useModern(caller, 'echo'), [['echo'], hi])
  })

  it('get along among servers without', async (t) => {
    const { caller } = await useMcpScene(t, { older: await useMcpServer(t), newer: await useNewerServer(t) })
    assert.deepEqual(await useModern(caller, 'older_echo'), [['older_echo', 'newer_echo'], hi])
    assert.deepEqual(await useModern(caller, 'newer_echo'), [['older_echo', 'newer_echo'], hi])
  })

  it('get along with a program behind pipes', async (t) => {
    const program = new URL('../../testing/mcp/stdio-server.mjs', import.meta.url).pathname
    const targets = [{ name: 'pipes', stdio: { cmd: process.execPath, args: [program] } }]
    const gateway = await useGateway(t, httpConfig([{ backends: [{ mcp: { targets } }] }]))
    const caller = new McpCaller(gateway.port())
    const discovered = (await caller.askModern('server/discover')).messages.at(-1)
    assert.ok(discovered?.result !== undefined, JSON.stringify(discovered))
    const echoed = (await caller.askModern('echo', { deep: { x: 1 } })).messages.at(-1)?.result
    assert.deepEqual((echoed!['params'] as { deep: unknown }).deep, { x: 1 })
  })

  for (const processes of ['PerSession', 'Shared']) {
    it(`get along with a program that insists on \`initialize\`, without asking who it is: ${processes}`, async (t) => {
      const program = new URL('../../testing/mcp/stdio-server.mjs', import.meta.url).pathname
      const stdio = { cmd: process.execPath, args: [program, '--strict'], processes }
      const gateway = await useGateway(
        t,
        httpConfig([{ backends: [{ mcp: { targets: [{ name: 'pipes', stdio }] } }] }]),
      )
      const caller = new McpCaller(gateway.port())
      const echo = async () => (await caller.askModern('echo', { deep: { x: 1 } })).messages.at(-1)
      const { result, error } = (await echo())!
      assert.equal(error, undefined)
      const { _meta, ...params } = result!['params'] as { _meta?: object; deep: unknown }
      assert.deepEqual([params, _meta], [{ deep: { x: 1 } }, undefined])
      // A new process is told of the session before it is asked anything.
      await caller.askModern('exit', { code: 3 })
      assert.ok((await echo())?.result !== undefined)
    })
  }

  it('get along with servers that refuse the revision by name, alone and among others', async (t) => {
    /** As the Go SDK does where it has sessions. */
    const refusing = () =>
      useTarget(t, (request) => {
        const meta = (request.params['_meta'] ?? {}) as Record<string, unknown>
        const claimed = meta['io.modelcontextprotocol/protocolVersion'] ?? request.headers['mcp-protocol-version']
        if (request.id !== undefined && claimed === '2026-07-28') {
          const data = { supported: ['2025-11-25', '2025-06-18'], requested: claimed }
          const refusal = { code: -32022, message: 'protocol version "2026-07-28" is not supported', data }
          request.json({ jsonrpc: '2.0', id: request.id, error: refusal }, 400)
        } else if (request.method === 'tools/list') request.result({ tools: [{ name: 'echo', inputSchema: {} }] })
        else if (request.method === 'tools/call') request.result({ content: [{ type: 'text', text: 'called' }] })
        else return false
        return true
      })
    const alone: Record<string, { port: number }> = { one: await refusing() }
    for (const targets of [alone, { one: await refusing(), two: await refusing() }]) {
      const { caller } = await useMcpScene(t, targets)
      const prefix = 'two' in targets ? 'one_' : ''
      const called = (await caller.askModern('tools/call', { name: `${prefix}echo` })).messages.at(-1)
      assert.deepEqual(called?.result?.['content'], [{ type: 'text', text: 'called' }])
      const listed = (await caller.askModern('tools/list')).messages.at(-1)
      assert.equal((listed?.result?.['tools'] as unknown[] | undefined)?.length, Object.keys(targets).length)
      const discovered = (await caller.askModern('server/discover')).messages.at(-1)
      assert.match(JSON.stringify(discovered?.result?.['supportedVersions']), /2026-07-28/)
    }
  })

  it('do not hang where nobody can be subscribed to', async (t) => {
    const deaf = () =>
      useTarget(t, (request) => request.method === 'subscriptions/listen' && (request.error(-32601, 'no', 404), true))
    const { caller } = await useMcpScene(t, { one: await deaf(), two: await deaf() })
    const answer = await caller.askModern('subscriptions/listen', { notifications: { toolsListChanged: true } })
    assert.equal(answer.messages.at(-1)?.error?.code, -32601, answer.text)
  })
})

describe('a server with sessions that a client without them is in front of', () => {
  /** Refuses what has no session, and answers the rest as the script says. */
  const older =
    (script: (request: TargetRequest) => boolean | void) =>
    (request: TargetRequest): boolean | void => {
      if (request.headers['mcp-protocol-version'] !== '2026-07-28') return script(request)
      request.error(-32000, 'Bad Request: no session', 400)
      return true
    }

  it('gets an answer to what it asks the client within a call, and the client hears nothing of it', async (t) => {
    const questions = ['elicitation/create', 'sampling/createMessage', 'roots/list', 'ping']
    let stream: EventWriter | null = null
    const target = await useTarget(
      t,
      older((request) => {
        if (request.method === 'tools/call') {
          stream = request.events()
          for (const method of questions) stream.send({ jsonrpc: '2.0', id: `q-${method}`, method, params: {} })
          callId = request.id
          return true
        }
        const { error, result, id } = JSON.parse(request.body || '{}') as RpcAnswer
        if (error === undefined && result === undefined) return false
        answers.set(String(id), error ?? { code: 0, message: JSON.stringify(result) })
        request.response.writeHead(202).end()
        if (answers.size === questions.length) {
          stream!.send({ jsonrpc: '2.0', id: callId, result: { content: [] } })
          stream!.end()
        }
        return true
      }),
    )
    let callId: unknown
    const answers = new Map<string, { code: number; message: string }>()
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await caller.askModern('tools/call', { name: 'a' })
    assert.deepEqual(
      answer.messages.map(({ method, result }) => method ?? result),
      [{ content: [], resultType: 'complete' }],
    )
    for (const method of questions.slice(0, 3)) {
      const { code, message } = answers.get(`q-${method}`)!
      assert.equal(code, -32603)
      assert.match(message, new RegExp(`^${method} cannot reach the client: `))
    }
    assert.deepEqual(answers.get('q-ping'), { code: 0, message: '{}' })
  })

  it('gets one on its own stream too', async (t) => {
    const target = await useTarget(
      t,
      older((request) => {
        if (request.verb !== 'GET') return false
        request.events().send({ jsonrpc: '2.0', id: 7, method: 'roots/list' })
        return true
      }),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const leaving = new AbortController()
    const response = await caller.openModern(
      'subscriptions/listen',
      { notifications: { toolsListChanged: true } },
      leaving.signal,
    )
    assert.match((await eventReader(response)())!.data, /acknowledged/)
    await until(() => target.requests.some(({ body }) => /"id":7,"error":\{"code":-32603/.test(body)))
    leaving.abort()
  })

  it('is told when the client closes the stream of a call', async (t) => {
    const target = await useTarget(
      t,
      older((request) => request.method === 'tools/call'),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const leaving = new AbortController()
    const params = { name: 'a' }
    caller
      .with({ 'mcp-name': 'a' })
      .openModern('tools/call', params, leaving.signal)
      .catch(() => {})
    await until(() => target.asked('tools/call').some(({ headers }) => headers['mcp-session-id'] === 'one'))
    leaving.abort()
    await until(() => target.asked('notifications/cancelled').length === 1)
    const [told] = target.asked('notifications/cancelled')
    assert.equal(told!.params['requestId'], target.asked('tools/call').at(-1)!.id)
    assert.equal(told!.headers['mcp-session-id'], 'one')
  })

  it('that is a program is told too', async (t) => {
    for (const processes of ['PerSession', 'Shared']) {
      const program = new URL('../../testing/mcp/stdio-server.mjs', import.meta.url).pathname
      const targets = [{ name: 'pipes', stdio: { cmd: process.execPath, args: [program], processes } }]
      const gateway = await useGateway(t, httpConfig([{ backends: [{ mcp: { targets } }] }]))
      const caller = new McpCaller(gateway.port())
      const leaving = new AbortController()
      const held = caller.openModern('hold', {}, leaving.signal)
      held.catch(() => {})
      const waiting = async () => (await caller.askModern('waiting')).messages[0]!.result!['count']
      while ((await waiting()) !== 1) await new Promise((resolve) => setTimeout(resolve, 20))
      leaving.abort()
      while ((await waiting()) !== 0) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })

  it('does not offer what nobody could use', async (t) => {
    const capabilities = { tools: { listChanged: true }, logging: {}, tasks: { list: {} }, completions: {} }
    const target = await useTarget(
      t,
      older((request) => {
        if (request.method !== 'initialize') return false
        request.result({ protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'x', version: '1' } })
        return true
      }),
    )
    const { caller } = await useMcpScene(t, { one: target })
    const discovered = (await caller.askModern('server/discover')).messages[0]!.result!
    assert.deepEqual(discovered['capabilities'], { tools: { listChanged: true }, completions: {} })
  })

  for (const code of [-32600, -32601, -32602]) {
    for (const status of [200, 400]) {
      it(`may say ${code} with ${status} to what it has never heard of`, async (t) => {
        const target = await useTarget(t, (request) => {
          if (request.method !== 'server/discover') return false
          request.error(code, 'Invalid request parameters', status)
          return true
        })
        const { caller } = await useMcpScene(t, { one: target })
        const discovered = (await caller.askModern('server/discover')).messages[0]!
        assert.deepEqual(discovered.result?.['capabilities'], { tools: {} }, JSON.stringify(discovered))
        assert.equal(target.asked('initialize').length, 1)
      })
    }
  }
})

describe('a subscription of a client without sessions', () => {
  /** Something that was not asked for, and something that was. */
  const say = (server: Sdk1Server): void => {
    void server.sendLoggingMessage({ level: 'error', data: 'x' })
    server.sendToolListChanged()
  }

  it('hears what servers with sessions say, and only what it asked for', async (t) => {
    for (const names of [['one'], ['one', 'two']]) {
      const servers = await Promise.all(names.map(() => useMcpServer(t)))
      const targets = Object.fromEntries(names.map((name, at) => [name, servers[at]!]))
      const { gateway } = await useMcpScene(t, targets)
      const caller = new McpCaller(gateway.port())
      const leave = new AbortController()
      t.after(() => leave.abort())
      const response = await caller.openModern(
        'subscriptions/listen',
        { notifications: { toolsListChanged: true } },
        leave.signal,
      )
      const next = eventReader(response)
      const hear = async () => JSON.parse((await next())!.data) as { method: string; params: Record<string, unknown> }
      const acknowledged = await hear()
      assert.equal(acknowledged.method, 'notifications/subscriptions/acknowledged')
      assert.deepEqual(acknowledged.params['notifications'], { toolsListChanged: true })
      const tag = { 'io.modelcontextprotocol/subscriptionId': 1 }
      assert.deepEqual(acknowledged.params['_meta'], tag)
      await until(() => servers.every((server) => server.requests.some(({ method }) => method === 'GET')))
      for (const server of servers) server.everyServer(say)
      for (const _ of servers) {
        const changed = await hear()
        assert.deepEqual([changed.method, changed.params['_meta']], ['notifications/tools/list_changed', tag])
      }
      leave.abort()
      assert.deepEqual(gateway.bugs, [])
    }
  })

  it('asks for each resource, and stays open where a server says nothing on its own account', async (t) => {
    const target = await useTarget(t, (request) => {
      if (request.headers['mcp-protocol-version'] === '2026-07-28')
        return (request.error(-32000, 'no session', 400), true)
      if (request.verb === 'GET') return (request.json({}, 405), true)
      return request.method === 'resources/subscribe' ? (request.result({}), true) : false
    })
    const { gateway } = await useMcpScene(t, { one: target })
    const leave = new AbortController()
    t.after(() => leave.abort())
    const filter = { resourceSubscriptions: ['file:///a'], promptsListChanged: false }
    const caller = new McpCaller(gateway.port())
    const response = await caller.openModern('subscriptions/listen', { notifications: filter }, leave.signal)
    const { params } = JSON.parse((await eventReader(response)())!.data) as { params: Record<string, unknown> }
    assert.deepEqual(params['notifications'], { resourceSubscriptions: ['file:///a'] })
    await until(() => target.asked('GET').length === 1 && target.asked('resources/subscribe').length === 1)
    assert.deepEqual(target.asked('resources/subscribe')[0]?.params, { uri: 'file:///a' })
    leave.abort()
    assert.deepEqual(gateway.bugs, [])
  })
})

describe('clients without sessions that are one caller', () => {
  it('do not get the answers of one another, though they count alike', async (t) => {
    const server = await useMcpServer(t)
    const { gateway } = await useMcpScene(t, { one: server })
    await new McpCaller(gateway.port()).askModern('tools/list')
    const texts = ['a', 'b', 'c', 'd']
    const answers = await Promise.all(
      texts.map((text) => new McpCaller(gateway.port()).askModern('tools/call', { name: 'echo', arguments: { text } })),
    )
    for (const [at, { messages }] of answers.entries()) {
      assert.deepEqual(
        [messages.at(-1)?.id, messages.at(-1)?.result?.['content']],
        [1, [{ type: 'text', text: texts[at] }]],
      )
    }
    const calls = server.requests.filter(
      ({ headers, body }) => headers['mcp-session-id'] && body.includes('tools/call'),
    )
    assert.equal(new Set(calls.map(({ body }) => (JSON.parse(body) as { id: unknown }).id)).size, texts.length)
    assert.deepEqual(gateway.bugs, [])
  })
})
