import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import type { TestGateway } from '../../../testing/gateway.ts'
import type { Origin } from '../../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

/** Tools of a server in pages, and what it answers to calls. */
async function useServer(t: TestContext, ...pages: (string | object)[][]): Promise<Origin> {
  return useOrigin(t, ({ body }, response) => {
    const { id, method, params } = JSON.parse(body) as Call
    const at = Number(params.cursor ?? 0)
    const next = at + 1 < pages.length ? { nextCursor: `${at + 1}` } : {}
    const tools = (pages[at] ?? []).map((tool) => (typeof tool === 'string' ? { name: tool } : tool))
    const listed = { tools, ...next, ttlMs: 9, cacheScope: 'public' }
    const result = method === 'tools/list' ? listed : { content: [{ type: 'text', text: `${params.name} of mine` }] }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', ...result } }))
  })
}

interface Call {
  id: number
  method: string
  params: { name?: string; cursor?: string }
}

const rules = (...list: unknown[]) => ({ mcp: { authorization: { rules: list } } })
const target = (name: string, { port }: Origin, policies: object = {}) => ({
  name,
  static: { host: '127.0.0.1', port, policies },
})
const configOf = (targets: object[], { mcp, ...more }: { mcp?: object; policies?: object } = {}) =>
  httpConfig([{ backends: [{ mcp: { targets, ...mcp }, ...more }] }])

/** Asks as the revision without sessions does. */
async function ask(gateway: TestGateway, method: string, params: Call['params'] = {}, headers: object = {}) {
  const key = 'io.modelcontextprotocol'
  const client = { [`${key}/clientInfo`]: { name: 'test', version: '1' }, [`${key}/clientCapabilities`]: {} }
  const _meta = { [`${key}/protocolVersion`]: '2026-07-28', ...client }
  const answer = await request(gateway.port(), {
    method: 'POST',
    path: '/mcp',
    headers: {
      host: 'localhost',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(params.name !== undefined && { 'mcp-name': params.name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  })
  const { result, error } = JSON.parse(answer.body) as Answer
  return { status: answer.status, result, error }
}

interface Answer {
  result?: { tools?: { name: string }[]; content?: { text: string }[]; nextCursor?: string; cacheScope?: string }
  error?: { code: number; message: string }
}

async function toolsOf(gateway: TestGateway, headers: object = {}): Promise<string[]> {
  const { result, error } = await ask(gateway, 'tools/list', {}, headers)
  assert.deepEqual(error, undefined)
  return result!.tools!.map(({ name }) => name)
}

async function call(gateway: TestGateway, name: string): Promise<string> {
  const { status, result, error } = await ask(gateway, 'tools/call', { name })
  return error === undefined ? result!.content![0]!.text : `${status} ${error.code} ${error.message}`
}

test('a denied tool is in no list, and a call of it is one of an unknown tool that never leaves the gateway', async (t) => {
  const server = await useServer(t, ['log', 'push'])
  const policies = rules({ deny: 'mcp.tool.name == "push"' })
  const gateway = await useGateway(t, configOf([target('git', server)], { policies }))
  const { result } = await ask(gateway, 'tools/list')
  assert.deepEqual(result!.tools, [{ name: 'log' }])
  assert.equal(result!.cacheScope, 'private')
  assert.equal(await call(gateway, 'log'), 'log of mine')
  assert.equal(await call(gateway, 'push'), '200 -32602 Unknown tool: push')
  assert.ok(!server.seen.some(({ body }) => body.includes('push')))
  await gateway.finished(3)
  assert.equal(gateway.records[2]?.reason, 'Authorization')
  assert.match(
    gateway.lines[2]!,
    / protocol=mcp .*mcp\.method\.name=tools\/call mcp\.target=git mcp\.resource\.type=tool gen_ai\.tool\.name=push .*mcp\.outcome=denied mcp\.error\.code=-32602/,
  )
  assert.match(
    gateway.metrics(),
    /portico_mcp_requests_total\{method="tools\/call",resource_type="tool",server="git",resource="push",outcome="denied",.*\} 1/,
  )
})

for (const [where, more, prefix] of [
  ['one target', [], ''],
  ['several targets', ['other'], 'git_'],
] as const) {
  test(`a tool that is hidden and one that is not there are told apart by nothing: ${where}`, async (t) => {
    const server = await useServer(t, ['log'], ['push', 'pull'])
    const others = await Promise.all(more.map(async (name) => target(name, await useServer(t, ['x']))))
    const policies = rules({ deny: 'mcp.tool.name == "push"' })
    const gateway = await useGateway(t, configOf([target('git', server), ...others], { policies }))
    /** The answer to the client, and the methods that the server was called with. */
    const probe = async (name: string) => {
      const before = server.seen.length
      const answer = await call(gateway, prefix + name)
      const asked = server.seen.slice(before).map(({ body }) => (JSON.parse(body) as Call).method)
      return { answer: answer.replaceAll(name, '?'), asked }
    }
    for (let round = 0; round < 2; round += 1) {
      const hidden = await probe('push')
      assert.deepEqual(await probe('pusk'), hidden)
      assert.deepEqual(hidden, { answer: `200 -32602 Unknown tool: ${prefix}?`, asked: ['tools/list', 'tools/list'] })
      await toolsOf(gateway)
    }
    // A tool that was listed before is called at once.
    assert.deepEqual(await probe('pull'), { answer: '? of mine', asked: ['tools/call'] })
  })
}

test('a tool that the server has just learned can be called under rules before it was listed', async (t) => {
  const names = ['log']
  const server = await useServer(t, names)
  const gateway = await useGateway(
    t,
    configOf([target('git', server)], { policies: rules({ deny: 'mcp.tool.name == "push"' }) }),
  )
  assert.deepEqual(await toolsOf(gateway), ['log'])
  assert.equal(await call(gateway, 'new'), '200 -32602 Unknown tool: new')
  names.push('new')
  assert.equal(await call(gateway, 'new'), 'new of mine')
})

test('a server that cannot list is left to say itself what it has', async (t) => {
  const server = await useOrigin(t, ({ body }, response) => {
    const { id, method } = JSON.parse(body) as Call
    const answer =
      method === 'tools/call'
        ? { result: { content: [{ text: 'called' }] } }
        : { error: { code: -32601, message: 'no' } }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
  })
  const gateway = await useGateway(
    t,
    configOf([target('git', server)], { policies: rules({ deny: 'mcp.tool.name == "push"' }) }),
  )
  assert.equal(await call(gateway, 'log'), 'called')
  assert.equal(await call(gateway, 'push'), '200 -32602 Unknown tool: push')
})

test('the trace names the rule that denied a call, and the rule that removed a tool from a list', async (t) => {
  const server = await useServer(t, ['log', 'push'])
  const rule = 'mcp.tool.name == "push"'
  const gateway = await useGateway(t, configOf([target('git', server)], { policies: rules({ deny: rule }) }))
  const calling = gateway.trace()
  await call(gateway, 'push')
  const denied = (await calling).find(({ message }) => message.type === 'mcpAuthorization')
  const outcome = [{ name: rule, mode: 'deny', matched: true }]
  const item = { kind: 'tool', name: 'push', target: 'git' }
  assert.deepEqual(denied?.message, { type: 'mcpAuthorization', item, rules: outcome, result: 'deny' })
  const listing = gateway.trace()
  await toolsOf(gateway)
  const filtered = (await listing).find(({ message }) => message.type === 'mcpFiltered')
  assert.deepEqual([filtered?.message.kept, filtered?.message.hidden], [1, 1])
  assert.deepEqual(filtered?.message.items, [{ ...item, rules: outcome }])
})

test('several targets: all pages, each by the rules of its own target and those of the backend', async (t) => {
  const [git, files] = [await useServer(t, ['log'], ['push', 'tag']), await useServer(t, ['read', 'push'], ['write'])]
  const targets = [target('git', git, rules({ deny: 'mcp.tool.name == "tag"' })), target('files', files)]
  const policies = rules({ deny: 'mcp.tool.name == "push" && mcp.tool.target == "files"' })
  const gateway = await useGateway(t, configOf(targets, { policies }))
  assert.deepEqual(await toolsOf(gateway), ['git_log', 'git_push', 'files_read', 'files_write'])
  assert.equal(await call(gateway, 'files_write'), 'write of mine')
  assert.equal(await call(gateway, 'git_push'), 'push of mine')
  assert.equal(await call(gateway, 'git_tag'), '200 -32602 Unknown tool: git_tag')
  assert.equal(await call(gateway, 'files_push'), '200 -32602 Unknown tool: files_push')
  assert.equal(await call(gateway, 'log'), '200 -32602 Unknown tool: log')
})

test('rules see the caller: the same list differs by header', async (t) => {
  const server = await useServer(t, ['log', 'push'])
  const policies = rules('mcp.tool.name == "log"', 'request.headers["x-role"] == "admin"')
  const gateway = await useGateway(t, configOf([target('git', server)], { policies }))
  assert.deepEqual(await toolsOf(gateway), ['log'])
  assert.deepEqual(await toolsOf(gateway, { 'x-role': 'admin' }), ['log', 'push'])
})

test('a reload that changes only the rules of a target is in force at once', async (t) => {
  const server = await useServer(t, ['log', 'push'])
  const gateway = await useGateway(t, configOf([target('git', server)]))
  assert.deepEqual(await toolsOf(gateway), ['log', 'push'])
  const tightened = configOf([target('git', server, rules({ deny: 'mcp.tool.name == "push"' }))])
  await gateway.reload(JSON.stringify(tightened))
  assert.deepEqual(await toolsOf(gateway), ['log'])
  assert.equal(await call(gateway, 'push'), '200 -32602 Unknown tool: push')
})

test('a long name is short for clients, and a call of it arrives, also where no list was asked for', async (t) => {
  const long = `${'a_long_name_'.repeat(8)}end`
  const [git, files] = [await useServer(t, [long]), await useServer(t, ['read'])]
  const config = configOf([target('git', git), target('files', files)])
  const [first, second] = [await useGateway(t, config), await useGateway(t, config)]
  const [name] = await toolsOf(first)
  assert.equal(name!.length, 64)
  assert.equal(await call(first, name!), `${long} of mine`)
  assert.equal(await call(second, name!), `${long} of mine`)
})

test('without prefixes a name tells nothing, so the lists do; one that two targets have is left out', async (t) => {
  const [git, files] = [await useServer(t, ['log', 'push']), await useServer(t, ['read', 'push'])]
  const mcp = { prefixMode: 'Never' }
  const targets = [target('git', git), target('files', files)]
  const clashing = await useGateway(t, configOf(targets, { mcp }))
  assert.deepEqual(await toolsOf(clashing), ['log', 'read'])
  assert.equal(await call(clashing, 'log'), 'log of mine')
  assert.match(await call(clashing, 'push'), /git and files both have a tool "push"/)
  // Rules can settle it.
  const policies = rules({ deny: 'mcp.tool.name == "push" && mcp.tool.target == "git"' })
  const settled = await useGateway(t, configOf(targets, { mcp, policies }))
  assert.deepEqual(await toolsOf(settled), ['log', 'read', 'push'])
  assert.equal(await call(settled, 'push'), 'push of mine')
  assert.equal((JSON.parse(files.seen.at(-1)!.body) as Call).params.name, 'push')
})
