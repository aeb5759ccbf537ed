import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Fault } from '../packages/gateway/src/testing/providers/fault.ts'
import { ANSWERS, toldText } from '../packages/gateway/src/testing/providers/scenes.ts'
import { type FakeProvider, startFakeProvider } from '../packages/gateway/src/testing/providers/server.ts'
import type { FollowUp, SdkReply, Question } from '../packages/gateway/src/testing/sdk-clients/client.ts'
import { clients } from './clients.ts'
import { type ShippedGateway, startShippedGateway } from './shipped-gateway.ts'
import { gatewayConfig } from './stand.ts'
import { type Target, targets } from './targets.ts'

/** A conversation that one vendor began goes on at another: calls keep their results, signatures of others stay away. */

const vendors = ['azure OpenAI', 'anthropic', 'gemini 2.5', 'gemini 3', 'bedrock', 'openai'].map((name) =>
  targets.find((target) => target.name === name)!,
)
const modelOf = ({ model, reasoningModel }: Target): string => reasoningModel ?? model

for (const first of vendors) {
  for (const second of vendors.filter((target) => target !== first)) {
    describe(`${first.name}, then ${second.name}`, () => {
      let one: FakeProvider
      let two: FakeProvider
      let gateway: ShippedGateway
      before(async () => {
        one = await startFakeProvider(first.vendor())
        two = await startFakeProvider(second.vendor())
        const groups = [[first, one] as const, [second, two] as const].map(([target, fake], at) => ({
          providers: [providerOf(target, fake, `p${at}`)],
        }))
        gateway = await startShippedGateway(gatewayConfig({ ai: { groups } }))
      })
      after(async () => {
        await gateway.close()
        await one.close()
        await two.close()
        assert.deepEqual(gateway.bugs, [])
      })

      for (const client of clients) {
        for (const streamed of [false, true]) {
          const how = `${client.name}, ${streamed ? 'streamed' : 'whole'}`
          const asks = { model: 'any-model', streamed, reasons: true, maxTokens: 4000 } as const
          const moved = async (heard: SdkReply, next: FollowUp): Promise<SdkReply> => {
            one.fault = { failure: { kind: 'overloaded', message: 'busy' } }
            const answered = two.asked.length
            const after = await heard.follow(next)
            assert.equal(two.asked.length, answered + 1)
            return after
          }
          const ask = (question: Pick<Question, 'scene' | 'tools'>): Promise<SdkReply> => {
            one.fault = {}
            return client
              .connect({ url: `http://127.0.0.1:${gateway.port()}`, key: 'client-key' })
              .ask({ ...asks, ...question })
          }

          it(`between a call and its result: ${how}`, async () => {
            const heard = await ask({ scene: 'reasoning-tool', tools: ['get_weather'] })
            assert.equal(heard.calls.length, 1)
            const after = await moved(heard, { results: ['21 degrees'] })
            assert.equal(after.text, toldText(['21 degrees']))
          })

          it(`after an answer with reasoning: ${how}`, async () => {
            const heard = await ask({ scene: 'reasoning' })
            assert.equal(heard.text, ANSWERS.reasoned.join(''))
            const after = await moved(heard, { text: 'Go on.' })
            assert.match(after.text, /^Signed reasoning came back: /)
          })
        }
      }
    })
  }
}

describe('faults that move a request to the next group', () => {
  const [client] = clients
  const openai = targets.find(({ name }) => name === 'openai')!
  const faults: [string, Fault][] = [
    ['429 without retry-after', { failure: { kind: 'rateLimit', message: 'slow down' } }],
    ['429 with retry-after', { failure: { kind: 'rateLimit', message: 'slow down', retryAfter: 60 } }],
    ['500', { failure: { kind: 'server', message: 'broken' } }],
    ['503', { failure: { kind: 'unavailable', message: 'away' } }],
    ['a connection that is closed', { hangUp: true }],
    ['a stream that breaks before its first byte', { break: { afterFrames: 0, how: 'reset' } }],
    ['a stream of garbage', { break: { afterFrames: 0, how: 'garbage' } }],
  ]
  for (const [name, fault] of faults) {
    it(name, async () => {
      const one = await startFakeProvider(openai.vendor(), fault)
      const two = await startFakeProvider(openai.vendor())
      const groups = [one, two].map((fake, at) => ({ providers: [providerOf(openai, fake, `p${at}`)] }))
      const gateway = await startShippedGateway(gatewayConfig({ ai: { groups } }))
      try {
        const sdk = client!.connect({ url: `http://127.0.0.1:${gateway.port()}`, key: 'client-key' })
        const heard = await sdk.ask({ scene: 'text', model: 'gpt-4.1', streamed: true })
        assert.equal(heard.text, ANSWERS.text.join(''))
        assert.equal(two.asked.length, 1)
      } finally {
        await gateway.close()
        await one.close()
        await two.close()
      }
    })
  }
})

function providerOf(target: Target, fake: FakeProvider, name: string): object {
  const provider = Object.fromEntries(
    Object.entries(target.provider).map(([key, config]) => [key, withModel(key, config, modelOf(target))]),
  )
  return { name, ...provider, host: '127.0.0.1', port: fake.port, policies: { auth: target.auth } }
}

/** Each provider is asked for a model of its own. */
function withModel(key: string, config: object, model: string): object {
  return key === 'azureopenai' ? { ...config, deploymentName: model } : { ...config, model }
}
