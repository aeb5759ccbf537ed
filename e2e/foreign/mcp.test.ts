import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import { type TargetRequest, useTarget } from '../../packages/gateway/src/testing/mcp/mcp-target.ts'
import { eventually } from '../../packages/gateway/src/testing/process.ts'
import { until } from '../../packages/gateway/src/testing/scene.ts'
import type { TestClient } from '../mcp/clients/client.ts'
import { libraries } from '../mcp/clients/libraries.ts'
import { remoteTargets, useMcpGateway } from '../mcp/gateway.ts'
import { buildGoClient, runGo, withoutGo } from './go.ts'
import { runPython, usePythonServer, withoutPython } from './python.ts'

/** The output of a client in another language. */
interface ClientOutput {
  version: string
  tools: string[]
  errors: ({ code: number; message: string } | null)[]
  echo: string
  progress: number[]
  hadSession: boolean
}

it('the Python SDK goes on while a server fails', { skip: withoutPython }, (t) =>
  goesOnWhileOneFails(t, '2025-11-25', (input) => runPython<ClientOutput>('mcp_client.py', input)),
)

it('the Go SDK goes on while a server fails', { skip: withoutGo }, async (t) => {
  const client = await buildGoClient(t, 'mcp')
  for (const version of ['2025-11-25', '2026-07-28']) {
    await t.test(version, (t) => goesOnWhileOneFails(t, version, (input) => runGo<ClientOutput>(client, input)))
  }
})

it('the Python SDK asks clients of every revision', { skip: withoutPython }, async (t) => {
  const port = await usePythonServer(t, 'mcp_server.py')
  const gateway = await useMcpGateway(t, { one: remoteTargets({ python: port }) })
  const asking = ['elicit', 'sample', 'roots']
  const answers = ['Ada', 'Paris', 'file:///home/test']
  for (const library of libraries.filter(({ name }) => !name.endsWith('SSE'))) {
    await t.test(library.name, async (t) => {
      const client = await library.connect(gateway.url('one'))
      t.after(() => client.close())
      // Clients with sessions open the stream of their own behind the scenes.
      if (client.revision !== '2026-07-28') await eventually('it is open', () => isAnswered(client, 'roots'))
      for (const [at, tool] of asking.entries()) assert.equal(await client.call(tool), answers[at])
    })
  }
  await t.test('Go SDK, 2026-07-28', { skip: withoutGo }, async (t) => {
    const client = await buildGoClient(t, 'mcp')
    const input = { url: gateway.url('one'), version: '2026-07-28', asking }
    assert.deepEqual((await runGo<{ asked: string[] }>(client, input)).asked, answers)
  })
})

/** Whether the server can send its request: it needs the open stream of the client. */
async function isAnswered(client: TestClient, tool: string): Promise<boolean> {
  const patience = AbortSignal.timeout(2_000)
  return client.call(tool, {}, { signal: patience }).then(
    () => true,
    () => false,
  )
}

/** Begins, lists, calls, hears of progress, and ends its session, with a server beside that answers no call. */
async function goesOnWhileOneFails(
  t: TestContext,
  version: string,
  run: (input: object) => Promise<ClientOutput>,
): Promise<void> {
  const hasSessions = version < '2026'
  const good = await useTarget(t, serveWell, { session: 'good' })
  const bad = await useTarget(t, serveBadly, { session: 'bad' })
  const gateway = await useMcpGateway(t, {
    two: remoteTargets({ good: good.port, bad: bad.port }, { prefixMode: 'Conditional' }),
  })
  const failing = ['bad_break', 'bad_trouble', 'bad_missing']
  const seen = await run({ url: gateway.url('two'), version, failing, echo: 'good_echo', progress: 'good_steps' })
  assert.deepEqual([seen.version, seen.hadSession], [version, hasSessions])
  assert.deepEqual(seen.tools, ['good_echo', 'good_steps', ...failing.slice(0, 2)])
  const errors = seen.errors.map((error) => error?.message ?? 'no error')
  const expected = [/^target bad: /, /^target bad: it answered HTTP 500/, /no such tool/]
  for (const [at, pattern] of expected.entries()) assert.match(errors[at]!, pattern)
  assert.equal(seen.echo, 'still here')
  assert.deepEqual(seen.progress, [1, 2, 3])
  if (hasSessions) await until(() => [good, bad].every((target) => target.asked('DELETE').length === 1))
}

function serveWell(request: TargetRequest): boolean {
  const { method, id, params } = request
  if (method === 'tools/list') return (request.result(toolsNamed('echo', 'steps')), true)
  if (method !== 'tools/call') return false
  const { name, arguments: given, _meta } = params as unknown as CallParams
  if (name === 'echo') return (request.result(textOf(given?.message ?? '')), true)
  const events = request.events()
  for (const progress of [1, 2, 3]) {
    const told = { progressToken: _meta?.progressToken, progress, total: 3 }
    events.send({ jsonrpc: '2.0', method: 'notifications/progress', params: told })
  }
  events.send({ jsonrpc: '2.0', id, result: textOf('done') })
  events.end()
  return true
}

interface CallParams {
  name: string
  arguments?: { message?: string }
  _meta?: { progressToken?: string | number }
}

function serveBadly(request: TargetRequest): boolean {
  const { method, params, response } = request
  if (method === 'tools/list') return (request.result(toolsNamed('break', 'trouble')), true)
  if (method !== 'tools/call') return false
  if (params['name'] === 'break') response.destroy()
  else if (params['name'] === 'trouble') response.writeHead(500, { 'content-type': 'text/html' }).end('<p>oops')
  else request.error(-32602, 'no such tool')
  return true
}

const toolsNamed = (...names: string[]) => ({
  tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
})
const textOf = (text: string) => ({ content: [{ type: 'text', text }] })
