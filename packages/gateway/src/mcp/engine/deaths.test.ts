import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { McpCaller } from '../../testing/mcp/mcp-caller.ts'
import { type ScriptedTarget, type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { httpConfig, until, useGateway } from '../../testing/scene.ts'
import type { TestGateway } from '../../testing/gateway.ts'

type Death = (request: TargetRequest, target: ScriptedTarget) => void

const socketOf = ({ response }: TargetRequest) => response.socket!
const half = (headers: Record<string, string>, end: 'destroy' | 'resetAndDestroy' | 'end'): Death => {
  return (request) => {
    request.response.writeHead(200, { 'content-type': 'application/json', ...headers })
    request.response.write('{"jsonrpc":"2.0","id":1,"res', () => void setImmediate(() => socketOf(request)[end]()))
  }
}
const raw = (text: string): Death => {
  return (request) => void socketOf(request).end(text)
}

/** How a target dies while it is asked to call a tool. */
const deaths: Record<string, Death> = {
  'resets the connection': (request) => void socketOf(request).resetAndDestroy(),
  'closes the connection': (request) => void socketOf(request).end(),
  'sends half a head': raw('HTTP/1.1 200 OK\r\ncontent-ty'),
  'sends what is no HTTP': raw('SSH-2.0-OpenSSH_9.6\r\n'),
  'closes within a body of known length': half({ 'content-length': '500' }, 'end'),
  'resets within a body of known length': half({ 'content-length': '500' }, 'resetAndDestroy'),
  'closes within a chunked body': half({}, 'destroy'),
  'resets within a chunked body': half({}, 'resetAndDestroy'),
  'sends what is no JSON': (request) => request.json('{nope'),
  'sends what is no message': (request) => request.json({ hello: 1 }),
  'answers something else': (request) => request.json({ jsonrpc: '2.0', id: 'other', result: {} }),
  'sends nothing': (request) => void request.response.writeHead(200, { 'content-type': 'application/json' }).end(),
  'answers 202': (request) => void request.response.writeHead(202).end(),
  'answers 500': (request) => void request.response.writeHead(500).end('no'),
  redirects: (request) => void request.response.writeHead(302, { location: 'http://127.0.0.1/' }).end(),
  'ends its stream without a response': (request) => request.events().end(),
  'resets its stream': (request) => {
    request.events().write(': hello\n\n')
    setImmediate(() => socketOf(request).resetAndDestroy())
  },
  'sends an event that is no message': (request) => {
    const events = request.events()
    events.send('{nope')
    events.end()
  },
  'answers something else in its stream': (request) => {
    const events = request.events()
    events.send({ jsonrpc: '2.0', id: 'other', result: {} })
    events.end()
  },
}

for (const names of [['one'], ['one', 'two']]) {
  describe(`a call of a target that dies is a failure for everybody: ${names.length} targets`, () => {
    for (const [what, die] of Object.entries(deaths)) {
      it(what, async (t) => {
        const target = await useTarget(t, (request) => {
          if (request.method !== 'tools/call') return false
          die(request, target)
          return true
        })
        const targets = Object.fromEntries(names.map((name) => [name, target]))
        const { gateway, caller } = await useMcpScene(t, targets)
        await hasFailed(gateway, caller, names.length > 1 ? 'one_a' : 'a')
      })
    }

    it('refuses connections', async (t) => {
      const target = await useTarget(t)
      const { gateway, caller } = await useMcpScene(t, Object.fromEntries(names.map((name) => [name, target])))
      const session = await caller.begin()
      target.close()
      await hasFailed(gateway, session, names.length > 1 ? 'one_a' : 'a', true)
    })

    it('says nothing until the route gives up', async (t) => {
      const target = await useTarget(t, ({ method }) => method === 'tools/call')
      const policies = { timeouts: { request: '300ms' } }
      const targets = Object.fromEntries(names.map((name) => [name, target]))
      const { gateway, caller } = await useMcpScene(t, targets, { policies })
      await hasFailed(gateway, caller, names.length > 1 ? 'one_a' : 'a')
    })

    it('is a program that ends', async (t) => {
      const args = [new URL('../../testing/mcp/stdio-server.mjs', import.meta.url).pathname]
      const targets = names.map((name) => ({ name, stdio: { cmd: process.execPath, args } }))
      const gateway = await useGateway(t, httpConfig([{ backends: [{ mcp: { targets } }] }]))
      const caller = new McpCaller(gateway.port())
      await hasFailed(gateway, caller, names.length > 1 ? 'one_exit' : 'exit')
    })
  })
}

/** Asserts that client, log, metric, record and trace all report one call as failed. */
async function hasFailed(gateway: TestGateway, caller: McpCaller, name: string, isBegun = false): Promise<void> {
  const session = isBegun ? caller : await caller.begin()
  const before = gateway.records.length
  const tracing = gateway.trace()
  const answer = await session.ask('tools/call', { name, arguments: {} })
  const last = answer.messages.at(-1)
  assert.ok(answer.status >= 400 || (last?.error !== undefined && last.id !== 'other'), `client: ${answer.text}`)
  const traced = await tracing
  await gateway.finished(before + 1)
  await until(() => gateway.recorded().some(({ mcp }) => mcp?.method === 'tools/call'))
  const record = gateway.records[before]!
  const calls = traced.filter(({ message }) => message.type === 'mcpCall')
  const said = {
    log: /mcp\.outcome=(error|unavailable)|reason=(UpstreamFailure|Timeout)/.test(gateway.lines[before]!),
    metric: /portico_mcp_requests_total\{method="tools\/call".*outcome="(error|unavailable)"/.test(gateway.metrics()),
    record: gateway.recorded().find(({ mcp }) => mcp?.method === 'tools/call')?.outcome,
    trace: calls.map(({ severity }) => severity),
  }
  assert.deepEqual(
    said,
    { log: true, metric: true, record: 'failed', trace: ['error'] },
    `${record.mcp?.outcome} ${gateway.lines[before]}`,
  )
}
