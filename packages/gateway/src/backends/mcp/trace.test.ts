import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactEvent } from '../../redaction/redact-event.ts'
import type { TestGateway } from '../../testing/gateway.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type TargetRequest, useTarget } from '../../testing/mcp/mcp-target.ts'
import { closedPort } from '../../testing/scene.ts'

const SPEC_ORDER = [
  'requestStarted',
  'requestSnapshot initial request',
  'requestSnapshot gateway policies',
  'routeSelection',
  'policySelection',
  'requestSnapshot route policies',
  'requestSnapshot final request',
  'backendCallStart',
  'backendCallResult',
  'responseSnapshot backend response ready',
  'responseSnapshot final response',
  'requestFinished',
]

const tools = (request: TargetRequest): boolean => {
  switch (request.method) {
    case 'tools/call':
      if (request.headers['mcp-session-id'] === 'lost') return (request.error(-32001, 'Session not found', 404), true)
      return (request.result({ content: [], isError: request.params['name'] === 'bad' }), true)
    case 'tools/list':
      return (request.result({ tools: ['good', 'bad'].map((name) => ({ name, inputSchema: {} })) }), true)
    default:
      return false
  }
}

async function eventsOf(gateway: TestGateway, ask: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const events = gateway.trace()
  await ask()
  return (await events).map(({ message, severity }) => ({ ...message, severity }))
}

const ofType = (events: Record<string, unknown>[], type: string) => events.filter((event) => event['type'] === type)

test('the events of the spec come in order, and the call tells what came of it', async (t) => {
  const target = await useTarget(t, tools)
  const { caller, gateway } = await useMcpScene(t, { one: target })
  const session = await caller.begin()
  const events = await eventsOf(gateway, () => session.ask('tools/call', { name: 'good' }))
  const names = events.map(({ type, stage }) => (typeof stage === 'string' ? `${String(type)} ${stage}` : String(type)))
  // The call to the backend, and the backend's call to its target, are both a final request.
  const known = names.filter((name) => SPEC_ORDER.includes(name))
  assert.deepEqual(
    known.filter((name, at) => name !== known[at - 1]),
    SPEC_ORDER,
  )
  const [call, ...more] = ofType(events, 'mcpCall')
  assert.equal(more.length, 0)
  const { durationMs, ...rest } = call!
  assert.equal(typeof durationMs, 'number')
  assert.deepEqual(rest, {
    type: 'mcpCall',
    severity: 'success',
    method: 'tools/call',
    target: 'one',
    item: { kind: 'tool', name: 'good', target: 'one' },
    outcome: 'ok',
  })
  assert.equal(events.at(-1)?.['type'], 'requestFinished')
  const shown = redactEvent(
    { eventStart: null, eventEnd: 0, severity: 'info', message: { type: 'all', events } },
    new Set(),
  )
  assert.ok(!JSON.stringify(shown).includes(session.session), 'the id of the session is a secret')
})

test('a call that fails says how: as a tool, at the target, or before it', async (t) => {
  const target = await useTarget(t, tools)
  const { caller, gateway } = await useMcpScene(t, { one: target, two: await useTarget(t) })
  const session = await caller.begin()
  for (const [name, outcome, severity] of [
    ['one_bad', 'tool_error', 'warn'],
    ['two_x', 'error', 'error'],
    ['three_x', 'error', 'error'],
  ] as const) {
    const [call] = ofType(await eventsOf(gateway, () => session.ask('tools/call', { name })), 'mcpCall')
    assert.deepEqual([call?.['outcome'], call?.['severity']], [outcome, severity], name)
  }
  const notification = await eventsOf(gateway, () => session.send({ jsonrpc: '2.0', method: 'notifications/x' }))
  assert.equal(ofType(notification, 'mcpCall')[0]?.['outcome'], 'ok')
})

test('a target that is down is named', async (t) => {
  const { caller, gateway } = await useMcpScene(t, { one: { port: await closedPort() } })
  const events = await eventsOf(gateway, () =>
    caller.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} }),
  )
  const [call] = ofType(events, 'mcpCall')
  assert.deepEqual([call?.['outcome'], call?.['code']], ['unavailable', -32603])
  assert.match(String(call?.['error']), /^target one: .*ECONNREFUSED/)
})

test('sessions that are begun anew are told of', async (t) => {
  let count = 0
  const target = await useTarget(t, (request) => {
    if (request.method !== 'initialize') return tools(request)
    request.response.setHeader('mcp-session-id', (count += 1) === 1 ? 'lost' : 'found')
    return (request.result({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} }), true)
  })
  const { caller, gateway } = await useMcpScene(t, { one: target })
  const session = await caller.begin()
  const events = await eventsOf(gateway, () => session.ask('tools/call', { name: 'good' }))
  assert.deepEqual(ofType(events, 'mcpSession'), [
    { type: 'mcpSession', target: 'one', action: 'initialize', severity: 'info' },
  ])
  assert.equal(ofType(events, 'mcpCall')[0]?.['outcome'], 'ok')
})

test('rules tell what they denied, and what they took out of a list', async (t) => {
  const target = await useTarget(t, tools)
  const backend = { mcp: { authorization: { rules: [{ deny: 'mcp.tool.name == "bad"' }] } } }
  const { caller, gateway } = await useMcpScene(t, { one: target }, { policies: { backend } })
  const session = await caller.begin()
  const denied = await eventsOf(gateway, () => session.ask('tools/call', { name: 'bad' }))
  assert.equal(ofType(denied, 'mcpAuthorization')[0]?.['result'], 'deny')
  assert.equal(ofType(denied, 'mcpCall')[0]?.['outcome'], 'denied')
  const listed = await eventsOf(gateway, () => session.ask('tools/list'))
  assert.deepEqual([ofType(listed, 'mcpFiltered')[0]?.['kept'], ofType(listed, 'mcpFiltered')[0]?.['hidden']], [1, 1])
  assert.equal(ofType(listed, 'mcpCall')[0]?.['outcome'], 'ok')
})
