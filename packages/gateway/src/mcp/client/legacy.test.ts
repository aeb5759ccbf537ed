import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { TestGateway } from '../../testing/gateway.ts'
import { HastyDeadlines } from '../../testing/http/hasty-deadlines.ts'
import { eventReader, McpCaller, type RpcAnswer } from '../../testing/mcp/mcp-caller.ts'
import { useMcpScene } from '../../testing/mcp/mcp-scene.ts'
import { type EventWriter, type ScriptedTarget, useTarget } from '../../testing/mcp/mcp-target.ts'
import { until } from '../../testing/scene.ts'

/** A client of the revision 2024-11-05: one stream, and an address to send to. */
async function useOldClient(t: TestContext, gateway: TestGateway, headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  t.after(() => leaving.abort())
  const base = `http://127.0.0.1:${gateway.port()}`
  const response = await fetch(`${base}/mcp/sse`, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: leaving.signal,
  })
  assert.equal(response.status, 200)
  const next = eventReader(response)
  const postTo = (await next())!.data
  const send = async (message: object, more: Record<string, string> = {}): Promise<number> => {
    const answer = await fetch(base + postTo, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
    await answer.text()
    return answer.status
  }
  const hear = async (): Promise<RpcAnswer> => JSON.parse((await next())!.data) as RpcAnswer
  return { postTo, send, hear, leave: () => leaving.abort() }
}

async function begin({ send, hear }: Awaited<ReturnType<typeof useOldClient>>): Promise<RpcAnswer> {
  const params = {
    protocolVersion: '2024-11-05',
    capabilities: { roots: {} },
    clientInfo: { name: 'old', version: '1' },
  }
  assert.equal(await send({ id: 0, method: 'initialize', params }), 202)
  const answer = await hear()
  assert.equal(await send({ method: 'notifications/initialized' }), 202)
  return answer
}

/** Ends before the servers of the test do: the target is told. */
async function end(client: { leave(): void }, ...targets: ScriptedTarget[]): Promise<void> {
  client.leave()
  await until(() => targets.every((target) => target.asked('DELETE').length === 1))
}

const talking = (t: TestContext, streams: EventWriter[]) =>
  useTarget(t, (request) => {
    if (request.verb === 'GET') return (streams.push(request.events()), true)
    if (request.method === 'tools/call')
      return request.params['name'] === 'never' || (request.result({ content: [] }), true)
    return false
  })

describe('a client of the old transport', () => {
  it('gets all answers by its stream', async (t) => {
    const streams: EventWriter[] = []
    const target = await talking(t, streams)
    const { gateway } = await useMcpScene(t, { one: target })
    const client = await useOldClient(t, gateway)
    assert.match(client.postTo, /^\/mcp\/sse\?sessionId=[\w-]+$/)
    assert.equal((await begin(client)).id, 0)
    assert.deepEqual(target.asked('initialize')[0]?.params['capabilities'], { roots: {} })
    assert.equal(await client.send({ id: 'a', method: 'tools/call', params: { name: 'x' } }), 202)
    assert.deepEqual(await client.hear(), { jsonrpc: '2.0', id: 'a', result: { content: [] } })
    await until(() => streams.length === 1)
    streams[0]!.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    assert.equal((await client.hear()).method, 'notifications/tools/list_changed')
    await end(client, target)
    assert.deepEqual(gateway.bugs, [])
    const [, id = ''] = client.postTo.split('sessionId=')
    assert.deepEqual(
      gateway.lines.filter((line) => line.includes(id)),
      [],
    )
  })

  it('hears errors there, too', async (t) => {
    const [one, two] = [await talking(t, []), await talking(t, [])]
    const { gateway } = await useMcpScene(t, { one, two })
    const client = await useOldClient(t, gateway)
    await begin(client)
    await client.send({ id: 1, method: 'tools/call', params: { name: 'three_x' } })
    assert.equal((await client.hear()).error?.code, -32602)
    await end(client, one, two)
  })

  it('does not notice that the stream of a target ends', async (t) => {
    const streams: EventWriter[] = []
    const [one, two] = [await talking(t, streams), await talking(t, [])]
    const deadlines = new HastyDeadlines({ 1000: 10 })
    const { gateway } = await useMcpScene(t, { one, two }, { gateway: { deadlines } })
    const client = await useOldClient(t, gateway)
    await begin(client)
    await until(() => streams.length === 1)
    streams[0]!.end()
    await until(() => streams.length === 2)
    streams[1]!.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'file:///x' } })
    assert.deepEqual((await client.hear()).params, { uri: 'one+file:///x' })
    await end(client, one, two)
  })

  it('that leaves ends its session, here and at the target', async (t) => {
    const target = await talking(t, [])
    const { gateway } = await useMcpScene(t, { one: target })
    const client = await useOldClient(t, gateway)
    await begin(client)
    await end(client, target)
    assert.equal(await client.send({ id: 1, method: 'ping' }), 404)
  })

  it('sends to nobody but itself', async (t) => {
    const data = { alice: { key: 'alice-key-0123456789' }, bob: { key: 'bob-key-0123456789' } }
    const target = await talking(t, [])
    const { gateway } = await useMcpScene(
      t,
      { one: target },
      { policies: { apiKeyAuthentication: { secretRef: { data } } } },
    )
    const client = await useOldClient(t, gateway, { authorization: 'Bearer alice-key-0123456789' })
    await begin(client)
    const ping = { id: 1, method: 'ping' }
    assert.equal(await client.send(ping, { authorization: 'Bearer bob-key-0123456789' }), 404)
    assert.equal(target.asked('ping').length, 0)
    await end(client, target)
  })

  it('needs the address that it was given', async (t) => {
    const { gateway } = await useMcpScene(t, { one: await talking(t, []) })
    for (const path of ['/mcp/sse', '/mcp/sse?sessionId=', '/mcp/sse?sessionId=abc']) {
      const answer = await new McpCaller(gateway.port(), {}, path).send({ jsonrpc: '2.0', id: 1, method: 'ping' })
      assert.equal(answer.status, 404, path)
    }
  })
})
