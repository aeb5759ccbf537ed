import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { parse } from 'yaml'
import { request } from '../../testing/client.ts'
import { useGateway, useOrigin } from '../../testing/scene.ts'

const CARD = {
  protocolVersion: '0.3.0',
  name: 'Planner',
  url: 'http://10.0.0.7:9000/',
  capabilities: { streaming: true },
}

/** An agent as its protocol has it, behind the config of the docs. */
async function setUp(t: TestContext) {
  let goOn: (() => void) | null = null
  const agent = await useOrigin(t, (seen, response) => {
    if (seen.method === 'GET')
      return void response.setHeader('content-type', 'application/json').end(JSON.stringify(CARD))
    const { id, method } = JSON.parse(seen.body) as { id: number; method: string }
    const event = (state: string) => `data: {"jsonrpc":"2.0","id":${id},"result":{"status":{"state":"${state}"}}}\n\n`
    if (method === 'message/send') return void response.end(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event('working'))
    goOn = () => void response.end(event('completed'))
  })
  const page = readFileSync(new URL('../../../../../docs/backends.md', import.meta.url), 'utf8')
  const yaml = /## Agents that speak A2A.*?```yaml\n(.*?)```/s.exec(page)![1]!.replaceAll('127.0.0.1:9000', agent.host)
  const config = parse(yaml) as { binds: { port: number }[] }
  config.binds[0]!.port = 0
  const gateway = await useGateway(t, config)
  return { agent, port: gateway.port(), goOn: () => goOn!() }
}

test('the card of an agent names the address that clients shall use', async (t) => {
  const { port } = await setUp(t)
  const { status, body } = await request(port, { path: '/.well-known/agent-card.json' })
  assert.equal(status, 200)
  assert.deepEqual(JSON.parse(body), { ...CARD, url: 'https://agents.example.com/' })
})

test('calls of an agent pass as they are', async (t) => {
  const { agent, port } = await setUp(t)
  const call = '{"jsonrpc":"2.0", "id":12, "method":"message/send", "params":{"message":{"parts":[]}}}'
  const headers = { 'content-type': 'application/json', 'a2a-version': '0.3' }
  const { body } = await request(port, { method: 'POST', headers, body: call })
  assert.equal(body, '{"jsonrpc":"2.0","id":12,"result":{}}')
  assert.equal(agent.seen[0]!.body, call)
  assert.equal(agent.seen[0]!.headers['a2a-version'], '0.3')
})

test('a stream of an agent arrives event by event', async (t) => {
  const { port, goOn } = await setUp(t)
  const body = '{"jsonrpc":"2.0","id":1,"method":"message/stream","params":{}}'
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })
  assert.equal(answer.headers.get('content-type'), 'text/event-stream')
  const reader = answer.body!.getReader()
  assert.match(Buffer.from((await reader.read()).value).toString(), /"working"/)
  goOn()
  assert.match(Buffer.from((await reader.read()).value).toString(), /"completed"/)
})
