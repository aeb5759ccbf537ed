import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../testing/client.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin } from '../../testing/scene.ts'

/** The conditions of the spec's part 7 that exist, one test for each, by its name there. */

test('Local rate limit exceeded (requests): 429, not forwarded, `rate limit exceeded`', async (t) => {
  const origin = await useOrigin(t)
  const rateLimit = { local: [{ requests: 1, unit: 'Hours' }] }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { rateLimit })]))
  assert.equal((await request(gateway.port())).status, 200)
  const { status, body } = await request(gateway.port())
  assert.deepEqual([status, body, origin.seen.length], [429, 'rate limit exceeded', 1])
})

test('HTTP-level authorization denies: 403', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { authorization: { rules: [{ deny: 'true' }] } })]))
  assert.equal((await request(gateway.port())).status, 403)
  assert.equal(origin.seen.length, 0)
})

test('Basic authentication fails: WWW-Authenticate with the configured realm, `Restricted` by default', async (t) => {
  const origin = await useOrigin(t)
  const users = ['alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=']
  for (const [realm, expected] of [
    [undefined, 'Restricted'],
    ['Staff only', 'Staff only'],
  ]) {
    const basicAuthentication = { users, ...(realm !== undefined && { realm }) }
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { basicAuthentication })]))
    const { status, headers } = await request(gateway.port())
    assert.equal(status, 401)
    assert.match(headers['www-authenticate'] ?? '', new RegExp(`^Basic realm="${expected}"`))
  }
  assert.equal(origin.seen.length, 0)
})

test('Upstream transport error: reported in the trace event backendCallResult.error', async (t) => {
  const gateway = await useGateway(t, httpConfig([routeTo({ host: `127.0.0.1:${await closedPort()}` })]))
  const events = gateway.trace()
  assert.equal((await request(gateway.port())).status, 503)
  const result = (await events).find(({ message }) => message.type === 'backendCallResult')
  assert.equal(result?.message['status'], null)
  assert.match(String(result?.message['error']), /^connect_failed: .*ECONNREFUSED/)
  assert.notEqual(result?.eventStart, null)
})

const listing = (request: TargetRequest): boolean | void => {
  if (request.method === 'tools/list') {
    return (request.result({ tools: ['open', 'secret'].map((name) => ({ name, inputSchema: {} })) }), true)
  }
  if (request.method === 'tools/call') return (request.result({ content: [] }), true)
}

test('MCP backend-level authorization denies a get or call: request rejected; list results are filtered instead', async (t) => {
  const target = await useTarget(t, listing)
  const backend = { mcp: { authorization: { rules: [{ deny: 'mcp.tool.name == "secret"' }] } } }
  const { caller } = await useMcpScene(t, { one: target }, { policies: { backend } })
  const session = await caller.begin()
  const refused = await session.ask('tools/call', { name: 'secret' })
  assert.deepEqual(refused.messages[0]?.error, { code: -32602, message: 'Unknown tool: secret' })
  assert.equal(target.asked('tools/call').length, 0)
  const { tools } = (await session.ask('tools/list')).messages[0]!.result as { tools: { name: string }[] }
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['open'],
  )
})

test('MCP target fails to start or become available: FailClosed the whole session fails, FailOpen the target is skipped', async (t) => {
  const targets = { one: await useTarget(t, listing), two: { port: await closedPort() } }
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const closed = await useMcpScene(t, targets, { backend: { failureMode: 'FailClosed' } })
  const failed = await closed.caller.ask('initialize', initialize)
  // Clients with sessions take an HTTP error for the end of everything.
  assert.equal(failed.status, 200)
  assert.match(failed.messages[0]?.error?.message ?? '', /target two/)
  assert.equal(failed.headers.get('mcp-session-id'), null)
  await until(() => targets.one.asked('DELETE').length === 1)
  const open = await useMcpScene(t, targets, { backend: { failureMode: 'FailOpen' } })
  const session = await open.caller.begin()
  const { tools } = (await session.ask('tools/list')).messages[0]!.result as { tools: { name: string }[] }
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['one_open', 'one_secret'],
  )
})
