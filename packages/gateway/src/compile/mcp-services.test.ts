import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { AttachedPolicy, Backend, Ir } from '../ir/resources.ts'
import { TestGateway } from '../testing/gateway.ts'
import { McpCaller } from '../testing/mcp/mcp-caller.ts'
import { type TestMcpServer, useMcpServer } from '../testing/mcp/mcp-server.ts'
import { useTarget } from '../testing/mcp/mcp-target.ts'
import { closedPort } from '../testing/scene.ts'
import { useSdkServer } from '../mcp/transports/sse/test-server.ts'

/** Servers of MCP behind a Service: Pods that stand for one another, each with sessions of its own. */

const LISTENER = 'bind/0/web'
const SERVICE = 'backend/service/tools/notes/80'
const BACKEND = 'backend/tools/mcp'

interface Scene {
  sessionRouting?: 'Stateful' | 'Stateless'
  protocol?: 'StreamableHTTP' | 'SSE'
  policies?: AttachedPolicy[]
  service?: Backend['target']
}

function config(scene: Scene = {}): Ir {
  const { sessionRouting = 'Stateful', protocol = 'StreamableHTTP', policies = [] } = scene
  const address = { host: 'notes.tools.svc.cluster.local', port: 80 }
  const { service = { kind: 'service', ...address, version: null } } = scene
  const path = protocol === 'SSE' ? '/sse' : '/mcp'
  const route = { key: `${LISTENER}/mcp`, listener: LISTENER, name: 'mcp', rule: '', labels: {}, hostnames: [] }
  return {
    binds: [{ key: 'bind/0', port: 0, address: '' }],
    listeners: [{ key: LISTENER, bind: 'bind/0', name: 'web', hostname: '', protocol: 'HTTP', tls: null }],
    routes: [
      {
        ...route,
        matches: [{ path: { kind: 'pathPrefix', value: '/mcp' }, method: null, headers: [], query: [] }],
        backends: [{ key: `${LISTENER}/mcp/backend/0`, backend: BACKEND, weight: 1 }],
      },
    ],
    backends: [
      { key: SERVICE, name: 'tools/notes:80', target: service },
      {
        key: BACKEND,
        name: 'tools/mcp',
        target: {
          kind: 'mcp',
          targets: [
            {
              key: `${BACKEND}/section/notes`,
              name: 'notes',
              reached: { by: 'http', ...address, path, protocol, service: SERVICE },
              tools: null,
              timeouts: { start: 5_000, initialize: 5_000, list: 5_000 },
            },
          ],
          sessionRouting,
          failureMode: 'FailClosed',
          prefixMode: 'Conditional',
          sessionIdleTimeout: 60_000,
          maxMessageSize: 1_000_000,
          sessionLifetime: 3_600_000,
        },
      },
    ],
    policies,
  }
}

async function useServices(t: TestContext, ports: readonly number[], scene: Scene = {}) {
  const gateway = new TestGateway({})
  t.after(() => gateway.close())
  await gateway.use(config(scene))
  const reach = (...those: number[]): void =>
    gateway.setEndpoints({ put: [[SERVICE, those.map((port) => `127.0.0.1:${port}`)]], drop: [] })
  reach(...ports)
  return { gateway, reach, caller: new McpCaller(gateway.port()) }
}

/** Counts what it is asked, in each session for itself. */
function counting(name: string): (server: McpServer) => void {
  return (server) => {
    let count = 0
    server.registerTool('count', {}, () => ({ content: [{ type: 'text', text: `${name} ${++count}` }] }))
  }
}

async function usePods(t: TestContext): Promise<Record<'a' | 'b', TestMcpServer>> {
  return {
    a: await useMcpServer(t, { name: 'a', setUp: counting('a') }),
    b: await useMcpServer(t, { name: 'b', setUp: counting('b') }),
  }
}

async function connect(t: TestContext, port: number): Promise<() => Promise<string>> {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)))
  t.after(() => client.close())
  return async () => {
    const { content } = await client.callTool({ name: 'count' })
    return (content as { text: string }[])[0]?.text ?? ''
  }
}

describe('a Stateful session', () => {
  test('stays on one Pod, and sessions are spread over all of them', async (t) => {
    const { a, b } = await usePods(t)
    const { gateway } = await useServices(t, [a.port, b.port])
    for (let round = 0; round < 40 && (a.sessions() === 0 || b.sessions() === 0); round++) {
      const count = await connect(t, gateway.port())
      const first = await count()
      const [pod = ''] = first.split(' ')
      assert.equal(first, `${pod} 1`)
      for (const turn of [2, 3, 4]) assert.equal(await count(), `${pod} ${turn}`)
    }
    assert.ok(a.sessions() > 0 && b.sessions() > 0, 'both Pods have sessions')
    assert.deepEqual(gateway.bugs, [])
  })

  test('begins anew on another Pod when its own is gone, and the client need not know', async (t) => {
    const { a, b } = await usePods(t)
    const { gateway, reach } = await useServices(t, [a.port])
    const count = await connect(t, gateway.port())
    assert.deepEqual([await count(), await count()], ['a 1', 'a 2'])
    reach(a.port, b.port)
    assert.equal(await count(), 'a 3', 'one more Pod changes nothing')
    reach(b.port)
    assert.deepEqual([await count(), await count()], ['b 1', 'b 2'])
    reach(a.port, b.port)
    assert.equal(await count(), 'b 3', 'what is begun anew stays there')
    assert.deepEqual(gateway.bugs, [])
  })

  test('begins anew where its Pod does not listen any more, before anybody has said so', async (t) => {
    const { b } = await usePods(t)
    const dying = await useTarget(t, (request) => {
      if (request.method !== 'tools/list') return false
      request.result({ tools: [{ name: 'dying', inputSchema: { type: 'object' } }] })
      return true
    })
    const { gateway, reach, caller } = await useServices(t, [dying.port])
    const session = await caller.begin()
    assert.match((await session.ask('tools/list')).text, /dying/)
    dying.close()
    reach(dying.port, b.port)
    const { text } = await session.ask('tools/call', { name: 'count' })
    assert.match(text, /b 1/)
    assert.deepEqual(gateway.bugs, [])
  })

  test('says so when nobody is left', async (t) => {
    const { a } = await usePods(t)
    const { gateway, reach, caller } = await useServices(t, [a.port])
    const session = await caller.begin()
    reach()
    const { status, messages } = await session.ask('tools/list')
    assert.deepEqual([status, messages[0]?.error?.code], [200, -32603])
    assert.match(messages[0]?.error?.message ?? '', /no ready endpoint/)
    reach(await closedPort())
    assert.match((await session.ask('tools/list')).messages[0]?.error?.message ?? '', /notes: /)
    assert.deepEqual(gateway.bugs, [])
  })

  test('stays on one Pod also where that gives it no name', async (t) => {
    const [a, b] = [
      await useTarget(t, listing('a'), { session: '' }),
      await useTarget(t, listing('b'), { session: '' }),
    ]
    const { gateway, caller } = await useServices(t, [a.port, b.port])
    for (let round = 0; round < 5; round++) {
      const session = await caller.begin()
      const answers = new Set<string>()
      for (let turn = 0; turn < 6; turn++)
        answers.add(JSON.stringify((await session.ask('tools/list')).messages[0]?.result))
      assert.equal(answers.size, 1)
    }
    assert.deepEqual(gateway.bugs, [])
  })

  test('goes on in another gateway with the same key, on the same Pod', async (t) => {
    const { a, b } = await usePods(t)
    const sessionKey = '11'.repeat(32)
    const gateways = [new TestGateway({ sessionKey }), new TestGateway({ sessionKey })]
    for (const gateway of gateways) {
      t.after(() => gateway.close())
      await gateway.use(config())
      gateway.setEndpoints({ put: [[SERVICE, [a, b].map(({ port }) => `127.0.0.1:${port}`)]], drop: [] })
    }
    const [one, other] = gateways.map((gateway) => new McpCaller(gateway.port()))
    const session = await one!.begin()
    const texts: string[] = []
    for (const at of [session, other!.with({ 'mcp-session-id': session.session }), session]) {
      const { messages } = await at.ask('tools/call', { name: 'count' })
      texts.push((messages[0]?.result?.['content'] as { text: string }[] | undefined)?.[0]?.text ?? '')
    }
    const [pod = ''] = (texts[0] ?? '').split(' ')
    assert.deepEqual(texts, [`${pod} 1`, `${pod} 2`, `${pod} 3`])
  })
})

function listing(name: string) {
  return (request: Parameters<NonNullable<Parameters<typeof useTarget>[1]>>[0]): boolean => {
    if (request.method !== 'tools/list') return false
    request.result({ tools: [{ name, inputSchema: { type: 'object' } }] })
    return true
  }
}

test('Stateless requests are spread, each with a session of its own on one Pod', async (t) => {
  const { a, b } = await usePods(t)
  const { gateway, caller } = await useServices(t, [a.port, b.port], { sessionRouting: 'Stateless' })
  const seen = new Set<string>()
  for (let round = 0; round < 60 && seen.size < 2; round++) {
    const { messages, text } = await caller.ask('tools/call', { name: 'count' })
    const said = (messages[0]?.result?.['content'] as { text: string }[] | undefined)?.[0]?.text ?? text
    assert.match(said, /^[ab] 1$/)
    seen.add(said)
  }
  assert.deepEqual([...seen].toSorted(), ['a 1', 'b 1'])
  assert.deepEqual(gateway.bugs, [])
})

test('servers of the older transport are sent all messages of a session where its stream is', async (t) => {
  const [a, b] = [await useSdkServer(t), await useSdkServer(t)]
  const { gateway, caller, reach } = await useServices(t, [a.port, b.port], { protocol: 'SSE' })
  const echo = async (session: McpCaller, text: string): Promise<void> => {
    const { messages } = await session.ask('tools/call', { name: 'echo', arguments: { text } })
    assert.deepEqual(messages.at(-1)?.result?.['content'], [{ type: 'text', text }])
  }
  const sessions: McpCaller[] = []
  for (let round = 0; round < 6; round++) sessions.push(await caller.begin())
  for (const session of sessions) for (const text of ['x', 'y', 'z']) await echo(session, text)
  assert.equal(a.opened() + b.opened(), 6)
  reach(b.port)
  for (const session of sessions) await echo(session, 'moved')
  assert.equal(b.open(), 6)
  assert.deepEqual(gateway.bugs, [])
})

test('policies of the Service hold for the target, and those of the backend more', async (t) => {
  const { a } = await usePods(t)
  const on = (key: string, header: string, value: string): AttachedPolicy => ({
    key: `policy/${key}/${header}`,
    target: { kind: 'backend', key },
    frontend: null,
    traffic: null,
    phase: 'PostRouting',
    backend: { transformation: { request: { set: [{ name: header, value: `"${value}"` }], add: [], remove: [] } } },
  })
  const { gateway, caller } = await useServices(t, [a.port], { policies: [on(SERVICE, 'x-from', 'service')] })
  await caller.begin()
  assert.equal(a.requests[0]?.headers['x-from'], 'service')
  await gateway.use(config({ policies: [on(SERVICE, 'x-from', 'service'), on(BACKEND, 'x-from', 'backend')] }))
  await caller.begin()
  assert.equal(a.requests.at(-1)?.headers['x-from'], 'backend')
})

test('a Service that cannot be used fails the target, and says why', async (t) => {
  const reason = 'BackendTLSPolicy tools/notes: no certificate'
  const { caller } = await useServices(t, [1], { service: { kind: 'invalid', reason } })
  const { messages } = await caller.ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  })
  assert.match(messages[0]?.error?.message ?? '', /no certificate/)
})
