import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { parse } from 'yaml'
import { request } from '../../../testing/client.ts'
import { useMcpServer } from '../../../testing/mcp/mcp-server.ts'
import type { TestGateway } from '../../../testing/gateway.ts'
import type { Origin, OriginHandler } from '../../../testing/origin.ts'
import { closedPort, httpConfig, pathPrefix, useGateway, useOrigin } from '../../../testing/scene.ts'

const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Pets', version: '4.5' },
  paths: {
    '/pets/{id}': {
      get: {
        operationId: 'getPet',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'integer' } },
          { name: 'X-Tenant', in: 'header', schema: { type: 'string' } },
          { name: 'User-Agent', in: 'header', schema: { type: 'string' } },
        ],
      },
      put: {
        operationId: 'putPicture',
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        requestBody: { content: { 'application/octet-stream': {} } },
      },
    },
    '/pets': {
      post: {
        operationId: 'addPet',
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
      },
    },
  },
}

async function setUp(t: TestContext, handler?: OriginHandler, { policies = {}, port = 0, backend = {} } = {}) {
  const origin = await useOrigin(t, handler)
  const openapi = { host: '127.0.0.1', port: port || origin.port, schema: { inline: DOCUMENT }, policies }
  const backends = [{ mcp: { targets: [{ name: 'pets', openapi }], ...backend } }]
  const gateway = await useGateway(t, httpConfig([{ ...pathPrefix('/mcp'), backends }]))
  return { origin, gateway, client: await useClient(t, gateway) }
}

async function useClient(t: TestContext, gateway: TestGateway): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  const headers = { authorization: 'Bearer of-the-client', cookie: 'a=b', 'x-tenant': 'mine', traceparent: TRACE }
  const url = new URL(`http://127.0.0.1:${gateway.port()}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  t.after(() => client.close())
  return client
}

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

function json(status: number, body: unknown): OriginHandler {
  return (_seen, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function lastOf({ seen }: Origin) {
  const last = seen.at(-1)!
  return { line: `${last.method} ${last.url}`, ...last }
}

describe('an API behind an MCP backend', () => {
  it('says of itself what a server would', async (t) => {
    const { client, gateway } = await setUp(t)
    assert.deepEqual(client.getServerVersion(), { name: 'Pets', version: '4.5' })
    assert.deepEqual(client.getServerCapabilities(), { tools: {} })
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['getPet', 'putPicture', 'addPet'],
    )
    assert.deepEqual(tools[2]!.inputSchema.required, ['body'])
    await client.ping()
    assert.deepEqual(gateway.bugs, [])
  })

  it('is called as its document says', async (t) => {
    const { client, origin } = await setUp(t, json(200, { name: 'Rex' }))
    const result = await client.callTool({ name: 'getPet', arguments: { path: { id: 7 } } })
    assert.deepEqual(result, {
      content: [{ type: 'text', text: '{"name":"Rex"}' }],
      structuredContent: { name: 'Rex' },
    })
    assert.equal(lastOf(origin).line, 'GET /pets/7')
    await client.callTool({ name: 'addPet', arguments: { body: { name: 'Ä', tags: [1, null] } } })
    const { line, body, headers } = lastOf(origin)
    assert.deepEqual(
      [line, body, headers['content-type']],
      ['POST /pets', '{"name":"Ä","tags":[1,null]}', 'application/json'],
    )
    await client.callTool({ name: 'putPicture', arguments: { path: { id: 7 }, body: btoa('bytes') } })
    assert.equal(lastOf(origin).body, 'bytes')
    assert.equal(lastOf(origin).headers['content-type'], 'application/octet-stream')
  })

  it('gets forms, files and cookies, and is asked for what it answers', async (t) => {
    const png = Buffer.from([137, 80, 78, 71])
    const origin = await useOrigin(
      t,
      (_seen, response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(png),
    )
    const properties = { name: { type: 'string' }, photo: { type: 'string', format: 'binary' } }
    const form = (type: string) => ({
      parameters: [{ name: 'tenant', in: 'cookie', schema: { type: 'string' } }],
      requestBody: { content: { [type]: { schema: { type: 'object', properties } } } },
      responses: { 200: { content: { 'image/png': {} } } },
    })
    const paths = {
      '/plain': { post: form('application/x-www-form-urlencoded') },
      '/parts': { post: form('multipart/form-data') },
    }
    const document = { openapi: '3.0.3', paths }
    const policies = { auth: { passthrough: {} } }
    const openapi = { host: '127.0.0.1', port: origin.port, schema: { inline: document }, policies }
    const backends = [{ mcp: { targets: [{ name: 'pets', openapi }] } }]
    const gateway = await useGateway(t, httpConfig([{ ...pathPrefix('/mcp'), backends }]))
    const client = await useClient(t, gateway)
    const cookie = { tenant: 'b; admin=1' }
    const plain = await client.callTool({ name: 'post_plain', arguments: { cookie, body: { name: 'R & x' } } })
    assert.deepEqual(plain.content, [{ type: 'image', data: png.toString('base64'), mimeType: 'image/png' }])
    const first = lastOf(origin)
    assert.deepEqual(
      [first.body, first.headers['content-type'], first.headers.accept],
      ['name=R%20%26%20x', 'application/x-www-form-urlencoded', 'image/png'],
    )
    assert.match(first.headers.cookie ?? '', /(^|; )tenant=b%3B%20admin%3D1$/)
    await client.callTool({ name: 'post_parts', arguments: { body: { name: 'R', photo: btoa('bytes') } } })
    const { body, headers } = lastOf(origin)
    const sent = await new Response(body, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
    assert.equal(sent.get('name'), 'R')
    const photo = sent.get('photo')
    assert.ok(photo !== null && typeof photo !== 'string')
    assert.equal(await photo.text(), 'bytes')
    assert.deepEqual(gateway.bugs, [])
  })

  it('gets credentials of its policies, and of clients nothing that is not declared', async (t) => {
    const auth = { key: 'of-the-api', location: { header: { name: 'X-Tenant' } } }
    const { client, origin } = await setUp(t, undefined, { policies: { auth } })
    const header = { 'X-Tenant': 'of-a-tool', 'User-Agent': 'of-a-tool' }
    await client.callTool({ name: 'getPet', arguments: { path: { id: 1 }, header } })
    const { rawHeaders, headers } = lastOf(origin)
    assert.equal(headers['x-tenant'], 'of-the-api')
    assert.equal(rawHeaders.filter((name) => /^x-tenant$/i.test(name)).length, 1)
    assert.notEqual(headers['user-agent'], 'of-a-tool')
    assert.equal(headers.traceparent?.slice(0, 35), TRACE.slice(0, 35))
    assert.equal(headers.accept, 'application/json')
    for (const name of ['authorization', 'cookie', 'mcp-session-id', 'mcp-protocol-version']) {
      assert.equal(headers[name], undefined, name)
    }
  })

  it('gets what a tool says in a declared header, not what the client sends there', async (t) => {
    const { client, origin } = await setUp(t)
    await client.callTool({ name: 'getPet', arguments: { path: { id: 1 }, header: { 'X-Tenant': 'a' } } })
    assert.equal(lastOf(origin).headers['x-tenant'], 'a')
    await client.callTool({ name: 'getPet', arguments: { path: { id: 1 } } })
    assert.equal(lastOf(origin).headers['x-tenant'], undefined)
  })

  it('gets the token of the client where the config lets it through', async (t) => {
    const { client, origin } = await setUp(t, undefined, { policies: { auth: { passthrough: {} } } })
    await client.callTool({ name: 'getPet', arguments: { path: { id: 1 } } })
    assert.equal(lastOf(origin).headers.authorization, 'Bearer of-the-client')
  })

  it('that answers with an error gives a result that says so', async (t) => {
    const { client } = await setUp(t, json(404, { error: 'no such pet' }))
    const result = await client.callTool({ name: 'getPet', arguments: { path: { id: 1 } } })
    assert.deepEqual(result, {
      content: [
        { type: 'text', text: 'The API responded with HTTP 404.' },
        { type: 'text', text: '{"error":"no such pet"}' },
      ],
      structuredContent: { error: 'no such pet' },
      isError: true,
    })
  })

  it('that is not there, or breaks off, gives an error', async (t) => {
    const gone = await setUp(t, undefined, { port: await closedPort() })
    await assert.rejects(gone.client.callTool({ name: 'getPet', arguments: { path: { id: 1 } } }), /pets/)
    const broken = await setUp(t, (_seen, response) => void response.destroy())
    await assert.rejects(broken.client.callTool({ name: 'getPet', arguments: { path: { id: 1 } } }), /pets/)
    const large = await setUp(t, (_seen, response) => void response.end(Buffer.alloc(17 * 1024 * 1024, 'a')))
    await assert.rejects(
      large.client.callTool({ name: 'getPet', arguments: { path: { id: 1 } } }),
      /larger than 16777216 bytes/,
    )
    assert.deepEqual([...gone.gateway.bugs, ...broken.gateway.bugs, ...large.gateway.bugs], [])
  })

  it('may answer as much as the config says', async (t) => {
    const answer: OriginHandler = (_seen, response) => void response.end(Buffer.alloc(100_000, 'a'))
    const call = { name: 'getPet', arguments: { path: { id: 1 } } }
    const small = await setUp(t, answer, { backend: { maxMessageSize: '64Ki' } })
    await assert.rejects(small.client.callTool(call), /larger than 65536 bytes/)
    const enough = await setUp(t, answer, { backend: { maxMessageSize: '128Ki' } })
    assert.equal((await enough.client.callTool(call)).isError, undefined)
  })

  it('that takes longer than a policy allows gives an error', async (t) => {
    const { client, gateway } = await setUp(t, () => {}, { policies: { http: { requestTimeout: '50ms' } } })
    await assert.rejects(client.callTool({ name: 'getPet', arguments: { path: { id: 1 } } }), /no response in time/)
    assert.deepEqual(gateway.bugs, [])
  })

  it('is not asked any longer when the client thinks better of it', async (t) => {
    const abort = new AbortController()
    const closed = Promise.withResolvers<void>()
    const { client, gateway } = await setUp(t, (_seen, response) => {
      response.on('close', closed.resolve)
      abort.abort()
    })
    const call = { name: 'getPet', arguments: { path: { id: 1 } } }
    await assert.rejects(client.callTool(call, undefined, { signal: abort.signal }))
    await closed.promise
    await client.ping()
    assert.deepEqual(gateway.bugs, [])
  })

  it('stands beside other targets', async (t) => {
    const server = await useMcpServer(t)
    const api = await useOrigin(t, json(200, { id: 1 }))
    const openapi = { host: '127.0.0.1', port: api.port, schema: { inline: DOCUMENT } }
    const targets = [
      { name: 'real', static: { host: '127.0.0.1', port: server.port } },
      { name: 'pets', openapi },
    ]
    const policies = { mcp: { authorization: { rules: ['mcp.tool.name != "addPet"'] } } }
    const routes = [{ ...pathPrefix('/mcp'), backends: [{ mcp: { targets }, policies }] }]
    const gateway = await useGateway(t, httpConfig(routes))
    const client = await useClient(t, gateway)
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['real_echo', 'pets_getPet', 'pets_putPicture'],
    )
    const result = await client.callTool({ name: 'pets_getPet', arguments: { path: { id: 1 } } })
    assert.deepEqual(result.structuredContent, { id: 1 })
    await assert.rejects(client.callTool({ name: 'pets_addPet', arguments: { body: {} } }), /Unknown tool/)
    assert.equal(api.seen.length, 1)
    assert.deepEqual(gateway.bugs, [])
  })

  it('refuses what it does not know', async (t) => {
    const { client, origin } = await setUp(t)
    const refused = async (args: Record<string, unknown>, pattern: RegExp, name = 'getPet') => {
      await assert.rejects(client.callTool({ name, arguments: args }), (error: Error & { code?: number }) => {
        assert.match(error.message, pattern)
        assert.equal(error.code, -32602)
        return true
      })
    }
    await refused({ path: { id: '1/../admin' } }, /`id` is part of a path/)
    await refused({ path: { id: 1, other: 2 } }, /unknown argument `other` in `path`/)
    await refused({ path: { id: 1 }, admin: true }, /unknown argument `admin`/)
    await refused({ path: { id: 1 }, header: { 'X-Tenant': 'a\r\nx: y' } }, /line breaks/)
    await refused({}, /`id` in `path` is missing/)
    await refused({}, /`body` is missing/, 'addPet')
    await refused({}, /Unknown tool/, 'dropPet')
    assert.equal(origin.seen.length, 0)
    await assert.rejects(client.getPrompt({ name: 'a' }), { code: -32601 })
    assert.deepEqual(await client.listPrompts().catch((error: Error) => error.message), { prompts: [] })
  })

  it('is served to clients without sessions', async (t) => {
    const { gateway, origin } = await setUp(t, json(200, [1, 2]))
    const client = new ModernClient({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new ModernTransport(new URL(`http://127.0.0.1:${gateway.port()}/mcp`)))
    t.after(() => client.close())
    assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28')
    assert.equal((await client.listTools()).tools.length, 3)
    const result = await client.callTool({ name: 'getPet', arguments: { path: { id: 1 } } })
    assert.deepEqual(result.structuredContent, { data: [1, 2] })
    assert.equal(origin.seen.length, 1)
    assert.deepEqual(gateway.bugs, [])
  })

  it('keeps digits that no double holds, both ways', async (t) => {
    const { gateway, origin } = await setUp(t, (_seen, response) => void response.end('{"id":12345678901234567891}'))
    const post = (body: string, more: Record<string, string> = {}) => {
      const headers = {
        host: 'localhost',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...more,
      }
      return request(gateway.port(), { method: 'POST', path: '/mcp', headers, body })
    }
    const begin = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    const begun = await post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: begin }))
    const session = { 'mcp-session-id': String(begun.headers['mcp-session-id']), 'mcp-protocol-version': '2025-06-18' }
    const call = (name: string, args: string): string =>
      `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
    const got = await post(call('getPet', '{"path":{"id":12345678901234567890}}'), session)
    assert.equal(lastOf(origin).url, '/pets/12345678901234567890')
    assert.match(got.body, /"structuredContent":\{"id":12345678901234567891\}/)
    await post(call('addPet', '{"body":{"id":12345678901234567890}}'), session)
    assert.equal(lastOf(origin).body, '{"id":12345678901234567890}')
    const stream = await request(gateway.port(), {
      path: '/mcp',
      headers: { host: 'localhost', accept: 'text/event-stream', ...session },
    })
    assert.equal(stream.status, 405)
  })
})

it('the config of the docs runs', async (t) => {
  const page = readFileSync(new URL('../../../../../../docs/mcp-openapi.md', import.meta.url), 'utf8')
  const origin = await useOrigin(t, json(201, { ok: true }))
  const config = parse(/```yaml\n(binds:.*?)```/s.exec(page)![1]!) as { binds: { port: number }[] }
  config.binds[0]!.port = 0
  const text = JSON.stringify(config).replace('"port":9000', `"port":${origin.port}`)
  const gateway = await useGateway(t, JSON.parse(text) as object)
  const client = await useClient(t, gateway)
  const call = /^\{"name".*$/m.exec(page)![0]
  const result = await client.callTool(JSON.parse(call) as { name: string; arguments: Record<string, unknown> })
  assert.deepEqual(result.structuredContent, { ok: true })
  const expected = /# the API gets\n(.*?)```/s.exec(page)![1]!.trim().split('\n')
  const { line, headers } = lastOf(origin)
  assert.equal(`${line} HTTP/1.1`, expected[0])
  for (const field of expected.slice(1)) {
    const [name, value] = field.split(/: (.*)/)
    assert.equal(headers[name!], value!.replace('9000', String(origin.port)), field)
  }
  const { tools } = await client.listTools()
  assert.deepEqual(tools.find(({ name }) => name === 'addBook')!.inputSchema.properties!['body'], {
    type: 'object',
    required: ['title'],
    properties: { title: { type: 'string' }, sequelOf: {} },
  })
})
