import assert from 'node:assert/strict'
import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http'
import { startOrigin } from '../origin.ts'
import { ANTHROPIC_KEY, anthropicVendor } from '../providers/anthropic.ts'
import { startFakeProvider } from '../providers/server.ts'

/** A kind of request whose source files are counted. */
export interface RequestPath {
  name: string
  /** Routes of the listener that the requests go to. */
  routes: object[]
  /** Text that the access log has once for each request. */
  logged: string
  /** Returns a function that sends one request and checks the response. */
  open(port: number, agent: Agent): Promise<() => Promise<void>>
}

interface RequestPaths extends AsyncDisposable {
  list: readonly RequestPath[]
}

/** Starts the upstreams of all request paths. */
export async function startRequestPaths(): Promise<RequestPaths> {
  const origin = await startOrigin()
  const provider = await startFakeProvider(anthropicVendor())
  const target = await startOrigin((message, response) => answerMcp(message.body, response))
  return {
    list: [plainGet(origin.host), streamedChat(provider.port), toolsCall(target.port)],
    async [Symbol.asyncDispose]() {
      await Promise.all([origin.close(), provider.close(), target.close()])
    },
  }
}

function plainGet(host: string): RequestPath {
  return {
    name: 'plain GET',
    routes: [{ backends: [{ host }] }],
    logged: 'http.path=/plain ',
    open: async (port, agent) => async () => {
      const { status, body } = await send({ port, agent, method: 'GET', path: '/plain' })
      assert.deepEqual([status, body], [200, 'ok'])
    },
  }
}

/** A client of Chat Completions streams from Anthropic; guards examine the request and the response. */
function streamedChat(port: number): RequestPath {
  const promptGuard = {
    request: [{ regex: { builtins: ['Ssn'], action: 'Reject' } }],
    response: [{ regex: { builtins: ['Email'] } }],
  }
  const policies = { backend: { auth: { key: ANTHROPIC_KEY }, ai: { promptGuard } } }
  const body = JSON.stringify({
    model: 'claude-sonnet-4-5',
    stream: true,
    messages: [{ role: 'user', content: 'scene: text' }],
  })
  return {
    name: 'streamed chat with guards',
    routes: [{ policies, backends: [{ ai: { provider: { anthropic: {}, host: '127.0.0.1', port } } }] }],
    logged: 'http.path=/v1/chat/completions ',
    open: async (gatewayPort, agent) => async () => {
      const path = '/v1/chat/completions'
      const answer = await send({ port: gatewayPort, agent, method: 'POST', path, body })
      assert.match(answer.body, /"content":.*\[DONE\]/s)
    },
  }
}

/** A client with a session calls a tool of the only target. */
function toolsCall(port: number): RequestPath {
  const targets = [{ name: 'tools', static: { host: '127.0.0.1', port } }]
  return {
    name: 'tools/call',
    routes: [{ backends: [{ mcp: { targets } }] }],
    logged: 'mcp.method.name=tools/call ',
    open: async (gatewayPort, agent) => {
      const post = (headers: OutgoingHttpHeaders, message: object) =>
        send({ port: gatewayPort, agent, method: 'POST', path: '/mcp', headers, body: JSON.stringify(message) })
      const begun = await post({}, { jsonrpc: '2.0', id: 0, method: 'initialize', params: INITIALIZE })
      const session = { 'mcp-session-id': begun.headers['mcp-session-id'] }
      await post(session, { jsonrpc: '2.0', method: 'notifications/initialized' })
      return async () => {
        const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } }
        assert.match((await post(session, call)).body, /"text":"hello"/)
      }
    },
  }
}

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'trace-files', version: '1' },
}

function answerMcp(body: string, response: ServerResponse): void {
  const { id, method } =
    body === '' ? { id: undefined, method: '' } : (JSON.parse(body) as { id?: unknown; method: string })
  if (id === undefined) return void response.writeHead(method === '' ? 405 : 202).end()
  const result =
    method === 'initialize'
      ? { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'tools', version: '1' } }
      : { content: [{ type: 'text', text: 'hello' }] }
  response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
}

interface SentRequest {
  port: number
  agent: Agent
  method: string
  path: string
  headers?: OutgoingHttpHeaders
  body?: string
}

async function send({ body = '', headers, ...options }: SentRequest) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    status: number
    headers: IncomingHttpHeaders
    body: string
  }>()
  const all = {
    host: '127.0.0.1',
    ...(body !== '' && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    accept: 'application/json, text/event-stream',
    ...headers,
  }
  request({ ...options, host: '127.0.0.1', headers: all }, async (response) => {
    const text = (await response.setEncoding('utf8').toArray()).join('')
    resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text })
  })
    .on('error', reject)
    .end(body)
  return promise
}
