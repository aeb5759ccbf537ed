import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { describe, it } from 'node:test'
import { sendRaw } from '../../testing/client.ts'
import { CLIENT, McpCaller, MODERN_META } from '../../testing/mcp/mcp-caller.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'

interface RefusedPost {
  name: string
  body?: object | string
  headers?: Record<string, string>
  status: number
  code: number
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
const call = (name: string) => ({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name } })
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

describe('a POST that no target hears of', () => {
  const refused: RefusedPost[] = [
    { name: 'accepts no events', headers: { accept: 'application/json' }, status: 406, code: -32600 },
    { name: 'accepts only events', headers: { accept: 'text/event-stream' }, status: 406, code: -32600 },
    {
      name: 'accepts a type that only looks like events',
      headers: { accept: 'application/json, text/event-streams' },
      status: 406,
      code: -32600,
    },
    { name: 'is no JSON by its type', headers: { 'content-type': 'text/plain' }, status: 415, code: -32600 },
    {
      name: 'is of a type that only begins like JSON',
      headers: { 'content-type': 'application/jsonx' },
      status: 415,
      code: -32600,
    },
    { name: 'is compressed', body: gzipSync('{}'), headers: { 'content-encoding': 'gzip' }, status: 415, code: -32600 },
    { name: 'is a batch', body: [ping], status: 400, code: -32600 },
    { name: 'is no JSON', body: '{', status: 400, code: -32700 },
    { name: 'is empty', body: '', status: 400, code: -32700 },
    {
      name: 'has a name twice',
      body: '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}',
      status: 400,
      code: -32600,
    },
    { name: 'is no UTF-8', body: Buffer.from([0x7b, 0xff, 0x7d]), status: 400, code: -32700 },
    { name: 'names an unknown revision', headers: { 'mcp-protocol-version': '1999-01-01' }, status: 400, code: -32022 },
    {
      name: 'names two revisions',
      headers: { 'mcp-protocol-version': '2025-11-25, 2025-06-18' },
      status: 400,
      code: -32022,
    },
    {
      name: 'repeats another method in its header',
      headers: { 'mcp-method': 'tools/list' },
      status: 400,
      code: -32020,
    },
    {
      name: 'repeats its method twice in its header',
      headers: { 'mcp-method': 'ping, tools/call' },
      status: 400,
      code: -32020,
    },
    {
      name: 'repeats another name in its header',
      body: call('b'),
      headers: { 'mcp-name': 'a' },
      status: 400,
      code: -32020,
    },
    {
      name: 'repeats another name, encoded',
      body: call('ä'),
      headers: { 'mcp-name': base64('ö') },
      status: 400,
      code: -32020,
    },
    {
      name: 'repeats its name in a way that nobody can read',
      body: call('a'),
      headers: { 'mcp-name': '=?base64?/w==?=' },
      status: 400,
      code: -32020,
    },
    { name: 'has no session', status: 400, code: -32600 },
    { name: 'has a session that nobody began', headers: { 'mcp-session-id': 'abc' }, status: 404, code: -32001 },
    { name: 'has two sessions', headers: { 'mcp-session-id': 'abc, def' }, status: 404, code: -32001 },
  ]
  for (const { name, body = ping, headers = {}, status, code } of refused) {
    it(`${name}: ${status}`, async (t) => {
      const target = await useTarget(t)
      const { caller, gateway } = await useMcpScene(t, { one: target })
      const answer = await caller.send(body, headers)
      assert.equal(answer.status, status, answer.text)
      assert.equal(answer.messages[0]?.error?.code, code)
      assert.equal(target.requests.length, 0)
      assert.deepEqual(gateway.bugs, [])
    })
  }

  for (const [header, first, second] of [
    ['mcp-method', 'ping', 'tools/call'],
    ['mcp-protocol-version', '2025-11-25', '2025-06-18'],
  ] as const) {
    it(`has two lines of ${header}: 400, whichever of them is right`, async (t) => {
      const { gateway } = await useMcpScene(t, { one: await useTarget(t) })
      const body = JSON.stringify(ping)
      const head = [
        'POST /mcp HTTP/1.1',
        'host: localhost',
        'connection: close',
        'content-type: application/json',
        'accept: application/json, text/event-stream',
        `${header}: ${first}`,
        `${header}: ${second}`,
        `content-length: ${body.length}`,
      ]
      const answer = await sendRaw(gateway.port(), `${head.join('\r\n')}\r\n\r\n${body}`)
      assert.equal(answer.status, 400)
      assert.match(answer.body, header === 'mcp-method' ? /-32020/ : /-32022/)
    })
  }

  it('is larger than bodies may be: 413', async (t) => {
    const target = await useTarget(t)
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await caller.send({ ...ping, params: { noise: 'x'.repeat(3_000_000) } })
    assert.equal(answer.status, 413)
    assert.equal(target.requests.length, 0)
  })

  for (const version of ['2025-03-26', '2025-06-18', '2025-11-25']) {
    it(`repeats another method or name in its headers, revision ${version}: 400`, async (t) => {
      const target = await useTarget(t)
      const { caller } = await useMcpScene(t, { one: target })
      const session = await caller.begin({ protocolVersion: version })
      const asked = target.requests.length
      const others = [
        ['mcp-method', 'tools/list'],
        ['mcp-name', 'b'],
        ['mcp-name', base64('b')],
      ] as const
      for (const [name, value] of others) {
        const answer = await session.send(call('a'), { 'mcp-protocol-version': version, [name]: value })
        assert.deepEqual([answer.status, answer.messages[0]?.error?.code], [400, -32020])
      }
      assert.equal(target.requests.length, asked)
      // Headers that say the same are fine.
      const answer = await session.send(call('a'), { 'mcp-method': 'tools/call', 'mcp-name': base64('a') })
      assert.equal(answer.status, 200)
    })
  }

  it('says which revisions there are', async (t) => {
    const { caller } = await useMcpScene(t, { one: await useTarget(t) })
    const answer = await caller.send(ping, { 'mcp-protocol-version': 'v999' })
    const { supported, requested } = answer.messages[0]!.error!.data as { supported: string[]; requested: string }
    assert.equal(requested, 'v999')
    assert.ok(supported.includes('2025-11-25') && supported.includes('2026-07-28'))
  })
})

describe('a POST of a revision without sessions', () => {
  const modern = { 'mcp-protocol-version': '2026-07-28' }
  const tool = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'ä', _meta: MODERN_META } }
  const good = { ...modern, 'mcp-method': 'tools/call', 'mcp-name': base64('ä') }
  for (const { name, body = tool, headers, status = 400, code } of [
    { name: 'says nothing of who asks', body: call('ä'), headers: good, code: -32602 },
    { name: 'has no header for its revision', headers: { ...good, 'mcp-protocol-version': '' }, code: -32020 },
    {
      name: 'names another revision in its header',
      headers: { ...good, 'mcp-protocol-version': '2025-11-25' },
      code: -32020,
    },
    { name: 'does not repeat its method', headers: { ...good, 'mcp-method': '' }, code: -32020 },
    { name: 'repeats another method', headers: { ...good, 'mcp-method': 'tools/list' }, code: -32020 },
    { name: 'does not repeat its name', headers: { ...modern, 'mcp-method': 'tools/call' }, code: -32020 },
    { name: 'repeats another name', headers: { ...good, 'mcp-name': base64('ö') }, code: -32020 },
    { name: 'has a session', headers: { ...good, 'mcp-session-id': 'abc' }, code: -32600 },
    {
      name: 'is one that went with the sessions',
      body: { ...ping, params: { _meta: MODERN_META } },
      headers: { ...modern, 'mcp-method': 'ping' },
      status: 404,
      code: -32601,
    },
    {
      name: 'does not say what the client can do',
      body: {
        ...tool,
        params: { name: 'ä', _meta: { ...MODERN_META, 'io.modelcontextprotocol/clientCapabilities': undefined } },
      },
      headers: good,
      code: -32602,
    },
  ]) {
    it(`${name}: ${status}, ${code}`, async (t) => {
      const target = await useTarget(t)
      const { caller } = await useMcpScene(t, { one: target })
      const given = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
      const answer = await caller.send(body, given)
      assert.deepEqual([answer.status, answer.messages[0]?.error?.code], [status, code], answer.text)
      assert.equal(target.requests.length, 0)
    })
  }

  it('that is all right reaches the target, with headers that say the same', async (t) => {
    const target = await useTarget(t, (request) =>
      request.method === 'tools/call' ? (request.result({ ok: true }), true) : false,
    )
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await caller.send(tool, good)
    assert.equal(answer.status, 200)
    const [asked] = target.requests
    assert.equal(target.requests.length, 1)
    assert.deepEqual(
      ['mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id'].map((name) => asked!.headers[name]),
      ['2026-07-28', 'tools/call', base64('ä'), undefined],
    )
    assert.equal(asked!.body, JSON.stringify(tool))
  })

  it('that is a notification is taken', async (t) => {
    const target = await useTarget(t)
    const { caller } = await useMcpScene(t, { one: target })
    const answer = await caller.send(
      { jsonrpc: '2.0', method: 'notifications/x', params: { _meta: MODERN_META } },
      modern,
    )
    assert.deepEqual([answer.status, answer.text], [202, ''])
    assert.equal(target.asked('notifications/x').length, 1)
  })
})

describe('a message that is not a request', () => {
  it('is answered with 202 and nothing, once the target has it', async (t) => {
    const target = await useTarget(t)
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    for (const message of [
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      { jsonrpc: '2.0', id: 5, result: { roots: [] } },
      { jsonrpc: '2.0', id: 6, error: { code: -1, message: 'no' } },
    ]) {
      const answer = await session.send(message)
      assert.deepEqual([answer.status, answer.text], [202, ''])
      assert.deepEqual(JSON.parse(target.requests.at(-1)!.body), message)
    }
  })

  it('is answered with 202 also when the target is gone', async (t) => {
    const target = await useTarget(t, ({ method, response }) => {
      if (method !== 'notifications/cancelled') return false
      response.destroy()
      return true
    })
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin()
    assert.equal(
      (await session.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })).status,
      202,
    )
  })
})

describe('other methods of HTTP', () => {
  for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
    it(`${method}: 405`, async (t) => {
      const { caller } = await useMcpScene(t, { one: await useTarget(t) })
      const response = await fetch(caller.url, { method })
      assert.deepEqual([response.status, response.headers.get('allow')], [405, 'GET, POST, DELETE'])
    })
  }

  it('GET must accept events: 406; needs a session: 400', async (t) => {
    const { caller } = await useMcpScene(t, { one: await useTarget(t) })
    assert.equal((await caller.listen({ accept: 'application/json' })).status, 406)
    assert.equal((await caller.listen()).status, 400)
    assert.equal((await caller.end()).status, 400)
  })
})

it('a begun session works by its id, and a client that knows none begins one', async (t) => {
  const target = await useTarget(t, (request) => (request.method === 'ping' ? (request.result({}), true) : false))
  const { gateway } = await useMcpScene(t, { one: target })
  const session = await new McpCaller(gateway.port()).begin({ clientInfo: CLIENT })
  assert.notEqual(session.session, 'one')
  assert.equal((await session.ask('ping')).status, 200)
  assert.equal(target.requests.at(-1)!.headers['mcp-session-id'], 'one')
})
