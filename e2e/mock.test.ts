import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { PERSON_SCHEMA } from '../packages/gateway/src/testing/providers/scenes.ts'
import type { Endpoint } from '../packages/gateway/src/testing/sdk-clients/client.ts'
import { clients } from './clients.ts'
import { type ShippedGateway, startShippedGateway } from './shipped-gateway.ts'
import { gatewayConfig } from './stand.ts'

/** The built-in mock, asked by the real client libraries. */

async function startMock(mock: object): Promise<{ gateway: ShippedGateway; endpoint: Endpoint }> {
  const gateway = await startShippedGateway(gatewayConfig({ ai: { provider: { mock } } }))
  return { gateway, endpoint: { url: `http://127.0.0.1:${gateway.port()}`, key: 'any' } }
}

describe('the mock', () => {
  let gateway: ShippedGateway
  let endpoint: Endpoint
  before(async () => {
    ;({ gateway, endpoint } = await startMock({ latency: '1ms', tokensPerSecond: 5000 }))
  })
  after(async () => {
    await gateway.close()
    assert.deepEqual(gateway.bugs, [])
  })

  for (const client of clients) {
    for (const streamed of [false, true]) {
      const how = `${client.name}, ${streamed ? 'streamed' : 'whole'}`
      const ask = { model: 'any-model', streamed }

      it(`says that it is one: ${how}`, async () => {
        const known = await gateway.ended()
        const heard = await client.connect(endpoint).ask({ ...ask, scene: 'hello' })
        assert.match(heard.text, /^\[mock\] .* You said: Please play scene: hello$/)
        assert.equal(heard.finish, client.traits.finishWords.stop)
        assert.ok((heard.usage.input ?? 0) > 0 && (heard.usage.output ?? 0) > 0)
        const record = await gateway.recordAfter(known, ({ llm }) => llm?.usage.output === heard.usage.output)
        assert.equal(record?.llm?.usage.output, heard.usage.output)
      })

      it(`calls a tool, and answers its result: ${how}`, async () => {
        const heard = await client
          .connect(endpoint)
          .ask({ ...ask, scene: 'get_time', tools: ['get_weather', 'get_time'] })
        assert.deepEqual(
          heard.calls.map(({ name, arguments: given }) => [name, given]),
          [['get_time', { zone: 'mock' }]],
        )
        const next = await heard.follow({ results: ['12:30'] })
        assert.match(next.text, /^\[mock\] /)
      })

      it(`gives structured output: ${how}`, async () => {
        const heard = await client.connect(endpoint).ask({ ...ask, scene: 'any', schema: PERSON_SCHEMA })
        assert.deepEqual(JSON.parse(heard.text), { name: 'mock', age: 1 })
      })
    }
  }

  it('the header says it too', async () => {
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })
    for (const stream of [false, true]) {
      const answer = await fetch(`${endpoint.url}/v1/chat/completions`, {
        method: 'POST',
        body: body.replace('{', `{"stream":${stream},`),
      })
      assert.equal(answer.headers.get('x-portico-mock'), 'true')
      await answer.text()
    }
  })
})

describe('rehearsals', () => {
  for (const client of clients) {
    it(`429 with retry-after: ${client.name}`, async (t) => {
      const { gateway, endpoint } = await startMock({ failures: { rateLimited: 100, retryAfter: '3s' } })
      t.after(() => gateway.close())
      const asking = client.connect(endpoint).ask({ scene: 'any', model: 'm', streamed: true })
      await assert.rejects(asking, { status: 429, retryAfter: '3' })
    })

    it(`503: ${client.name}`, async (t) => {
      const { gateway, endpoint } = await startMock({ failures: { unavailable: 100 } })
      t.after(() => gateway.close())
      await assert.rejects(client.connect(endpoint).ask({ scene: 'any', model: 'm', streamed: false }), { status: 503 })
    })

    it(`a stream that breaks off: ${client.name}`, async (t) => {
      const { gateway, endpoint } = await startMock({ failures: { brokenStreams: 100 } })
      t.after(() => gateway.close())
      await assert.rejects(client.connect(endpoint).ask({ scene: 'any', model: 'm', streamed: true }))
    })
  }
})
