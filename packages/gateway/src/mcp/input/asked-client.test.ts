import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
} from '@modelcontextprotocol/server'
import { useFleet } from '../../testing/workers/fleet.ts'
import type { McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { mcpConfig, useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { useMcpServer } from '../../testing/mcp/mcp-server.ts'
import { useTarget } from '../../testing/mcp/mcp-target.ts'
import { eventReader } from '../../testing/mcp/mcp-caller.ts'
import { httpConfig, until, useGateway } from '../../testing/scene.ts'

const NAME = { type: 'object', properties: { name: { type: 'string' } } } as const
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })

/** A server without sessions, whose tools say what they have to know first. */
async function useRequiring(t: TestContext): Promise<{ port: number }> {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer({ name: 'newer', version: '2' }, { capabilities: { tools: {} } })
      server.registerTool('all', {}, ({ mcpReq: { inputResponses } }) => {
        const name = acceptedContent(inputResponses, 'name')?.['name']
        const roots = inputResponse(inputResponses, 'roots')
        const model = inputResponse(inputResponses, 'model')
        if (typeof name === 'string' && roots.kind === 'roots' && model.kind === 'sampling') {
          return text([name, roots.roots[0]?.uri, model.result.content])
        }
        const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'capital?' } }]
        return inputRequired({
          inputRequests: {
            name: inputRequired.elicit({ message: 'who?', requestedSchema: NAME }),
            roots: inputRequired.listRoots(),
            model: inputRequired.createMessage({ messages, maxTokens: 9 }),
          },
        })
      })
      server.registerTool('twice', {}, ({ mcpReq: { inputResponses, requestState } }) => {
        const before = String(requestState() ?? '')
        const name = acceptedContent(inputResponses, 'name')?.['name']
        const known = typeof name === 'string' ? `${before}${name};` : before
        if (known.split(';').length > 2) return text(known)
        const ask = inputRequired.elicit({ message: `${known.length}`, requestedSchema: NAME })
        return inputRequired({ inputRequests: { name: ask }, requestState: known })
      })
      return server
    },
    { legacy: 'reject' },
  )
  const handle = toNodeHandler(handler)
  const http = createServer((request, response) => void handle(request, response))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(async () => {
    await handler.close()
    http.closeAllConnections()
    http.close()
  })
  return { port: (http.address() as AddressInfo).port }
}

type Transport = ConstructorParameters<typeof StreamableHTTPClientTransport>[1]

async function useClient(t: TestContext, url: URL, capabilities: object, options: Transport = {}): Promise<Client> {
  const client = new Client({ name: 'old', version: '1' }, { capabilities })
  if ('elicitation' in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
      action: 'accept',
      content: { name: `Ada ${params.message}` },
    }))
  }
  if ('roots' in capabilities) {
    client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///home' }] }))
  }
  if ('sampling' in capabilities) {
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      role: 'assistant',
      content: { type: 'text', text: 'Paris' },
      model: 'm',
    }))
  }
  const isSse = url.pathname.endsWith('/sse')
  await client.connect(isSse ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url, options))
  t.after(() => client.close())
  return client
}

const ABLE = { elicitation: {}, roots: {}, sampling: {} }
const said = (result: object): unknown =>
  JSON.parse((result as { content: { text: string }[] }).content[0]!.text) as unknown
const ALL = ['Ada who?', 'file:///home', { type: 'text', text: 'Paris' }]

describe('a server without sessions asks a client that has one', () => {
  for (const path of ['/mcp', '/sse']) {
    it(`within the call, by ${path}, with one target and with several`, async (t) => {
      const server = await useRequiring(t)
      const targets = (names: string[], ports: number[]) =>
        names.map((name, at) => ({ name, static: { host: '127.0.0.1', port: ports[at] } }))
      const older = await useMcpServer(t)
      for (const [prefix, list] of [
        ['', targets(['one'], [server.port])],
        ['newer_', targets(['newer', 'older'], [server.port, older.port])],
      ] as const) {
        const gateway = await useGateway(t, httpConfig([{ backends: [{ mcp: { targets: list } }] }]))
        const client = await useClient(t, new URL(`http://127.0.0.1:${gateway.port()}${path}`), ABLE)
        assert.deepEqual(said(await client.callTool({ name: `${prefix}all` })), ALL)
        assert.equal(said(await client.callTool({ name: `${prefix}twice` })), 'Ada 0;Ada 6;')
        assert.deepEqual(gateway.bugs, [])
      }
    })
  }

  it('whichever worker gets the answers', async (t) => {
    const server = await useRequiring(t)
    const fleet = await useFleet(t, { workers: 2 })
    await fleet.apply(mcpConfig({ one: server }))
    const url = new URL(`http://127.0.0.1:${fleet.port()}/mcp`)
    const client = await useClient(t, url, ABLE, { requestInit: { headers: { connection: 'close' } } })
    for (let round = 0; round < 4; round += 1) assert.deepEqual(said(await client.callTool({ name: 'all' })), ALL)
    assert.equal(fleet.logged(), '')
  })

  it('only for what the client can do', async (t) => {
    const server = await useRequiring(t)
    const { gateway } = await useMcpScene(t, { one: server })
    const url = new URL(`http://127.0.0.1:${gateway.port()}/mcp`)
    const client = await useClient(t, url, { elicitation: {} })
    await assert.rejects(client.callTool({ name: 'all' }), /capabilit/i)
    assert.equal(said(await client.callTool({ name: 'twice' })), 'Ada 0;Ada 6;')
  })
})

describe('a server that wants to know something first', () => {
  const required = { resultType: 'input_required', requestState: 'mine' }
  const ELICIT = { method: 'elicitation/create', params: { mode: 'url', message: 'go', url: 'https://x.test/' } }

  /** A server without sessions that answers each call with this. */
  function useNewer(t: TestContext, result: (call: number, params: Record<string, unknown>) => object) {
    let calls = 0
    return useTarget(t, (request) => {
      if (request.method === 'server/discover') {
        const found = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, resultType: 'complete' }
        return (request.result(found), true)
      }
      if (request.method !== 'tools/call') return (request.error(-32601, 'no', 404), true)
      calls += 1
      request.result(result(calls, request.params))
      return true
    })
  }

  /** Calls, and reads what comes, one message after the other. */
  async function open(caller: McpCaller, signal?: AbortSignal) {
    const params = { name: 'a', arguments: { big: 1 } }
    const response = await caller.open({ jsonrpc: '2.0', id: 'call', method: 'tools/call', params }, {}, signal)
    const next = eventReader(response)
    return async () => JSON.parse((await next())!.data) as Record<string, Record<string, unknown>> & { id: string }
  }

  const able = { capabilities: { elicitation: { url: {} }, roots: {} } }

  it('is called again with the answers and its state, in a request of its own', async (t) => {
    const target = await useNewer(t, (call) =>
      call === 1 ? { ...required, inputRequests: { page: ELICIT } } : { resultType: 'complete', content: [] },
    )
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin(able)
    const hear = await open(session)
    const question = await hear()
    assert.match(String(question.params?.['elicitationId']), /./)
    await session.send({ jsonrpc: '2.0', id: question.id, result: { action: 'accept', big: 1 } })
    assert.deepEqual(await hear(), { jsonrpc: '2.0', id: 'call', result: { content: [] } })
    const [first, second] = target.asked('tools/call')
    assert.notEqual(second!.id, first!.id)
    assert.deepEqual(
      [second!.params['inputResponses'], second!.params['requestState'], second!.params['arguments']],
      [{ page: { action: 'accept', big: 1 } }, 'mine', { big: 1 }],
    )
  })

  for (const [what, answer, message] of [
    [
      'does not answer',
      { error: { code: -1, message: 'no thanks' } },
      /did not answer the request of the target: no thanks/,
    ],
    ['answers nonsense', { result: 'x' }, /did not answer/],
  ] as const) {
    it(`fails when the client ${what}`, async (t) => {
      const target = await useNewer(t, () => ({ ...required, inputRequests: { page: ELICIT } }))
      const { caller, gateway } = await useMcpScene(t, { one: target })
      const session = await caller.begin(able)
      const hear = await open(session)
      await session.send({ jsonrpc: '2.0', id: (await hear()).id, ...answer })
      const { error } = await hear()
      assert.equal(error?.['code'], -32603)
      assert.match(String(error['message']), message)
      assert.equal(target.asked('tools/call').length, 1)
      assert.deepEqual(gateway.bugs, [])
    })
  }

  for (const [what, inputRequests, message] of [
    ['something unheard of', { a: { method: 'client/dance' } }, /client\/dance, which the client cannot answer/],
    ['what the client cannot do', { a: { method: 'sampling/createMessage', params: {} } }, /cannot answer/],
    ['nonsense', { a: 1 }, /an invalid request, which/],
    ['nothing but time', {}, /busy/],
  ] as const) {
    it(`fails when it asks for ${what}`, async (t) => {
      const target = await useNewer(t, () => ({ ...required, inputRequests }))
      const { caller } = await useMcpScene(t, { one: target })
      const answer = await (await caller.begin(able)).ask('tools/call', { name: 'a' })
      assert.equal(answer.messages.at(-1)?.error?.code, -32603)
      assert.match(answer.messages.at(-1)!.error!.message, message)
    })
  }

  it('fails when it never has enough', async (t) => {
    const target = await useNewer(t, () => ({ ...required, inputRequests: { roots: { method: 'roots/list' } } }))
    const { caller } = await useMcpScene(t, { one: target })
    const session = await caller.begin(able)
    const hear = await open(session)
    for (let round = 0; round < 10; round += 1) {
      await session.send({ jsonrpc: '2.0', id: (await hear()).id, result: { roots: [] } })
    }
    assert.match(String((await hear()).error?.['message']), /after 10 rounds/)
    assert.equal(target.asked('tools/call').length, 11)
  })

  it('is of no interest to other sessions, and forgotten when the client leaves', async (t) => {
    const target = await useNewer(t, () => ({ ...required, inputRequests: { page: ELICIT } }))
    const { caller } = await useMcpScene(t, { one: target })
    const [session, other] = [await caller.begin(able), await caller.begin(able)]
    const leaving = new AbortController()
    const hear = await open(session, leaving.signal)
    const { id } = await hear()
    const answer = { jsonrpc: '2.0', id, result: { action: 'accept' } }
    assert.equal((await other.send(answer)).status, 202)
    leaving.abort()
    assert.equal((await session.send(answer)).status, 202)
    await until(() => target.asked('tools/call').length === 1)
  })
})
