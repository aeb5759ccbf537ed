import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Endpoint, SdkClient } from '../packages/gateway/src/testing/sdk-clients/client.ts'
import { features } from '../packages/gateway/src/testing/sdk-clients/checks.ts'
import { googleGenaiClient } from '../packages/gateway/src/testing/sdk-clients/google-genai.ts'
import { clientTraits, type ClientTraits, upstreamTraits } from '../packages/gateway/src/testing/sdk-clients/traits.ts'
import { aiGoogleClient } from '../packages/gateway/src/testing/sdk-clients/vercel-ai.ts'
import { USAGE } from '../packages/gateway/src/testing/providers/scenes.ts'
import type { Ledger } from './ledger.ts'
import { type Stand, startStand } from './stand.ts'
import { targets } from './targets.ts'

/** Libraries whose format the gateway hands through without a translation. */
export const nativeClients: { name: string; traits: ClientTraits; connect: (endpoint: Endpoint) => SdkClient }[] = [
  { name: '`@google/genai`', traits: clientTraits.gemini, connect: googleGenaiClient },
  { name: '`ai` with `@ai-sdk/google`', traits: clientTraits.aiGemini, connect: aiGoogleClient },
]

export const nativeTargets = targets.filter(({ provider }) => 'gemini' in provider)

export function nativeCells(ledger: Ledger): void {
  for (const target of nativeTargets) {
    for (const routeType of ['Detect', 'Passthrough']) {
      describe(`${target.name} by ${routeType}`, () => {
        let stand: Stand
        before(async () => {
          stand = await startStand(target, { '*': routeType })
        })
        after(async () => {
          await stand.close()
          assert.deepEqual(stand.gateway.bugs, [])
        })
        for (const { name, traits, connect } of nativeClients) {
          for (const streamed of [false, true]) {
            const how = `${name}, ${streamed ? 'streamed' : 'whole'}`
            for (const feature of features) {
              it(`${feature.name}, ${how}`, () =>
                ledger.note(name, target.name, async () => {
                  const sdk = connect(stand.endpoint)
                  await feature.check({
                    client: traits,
                    upstream: upstreamTraits.gemini,
                    streamed,
                    takesTemperature: true,
                    ask: (question) => sdk.ask({ ...question, streamed, model: target.model }),
                  })
                }))
            }
            if (routeType !== 'Detect') continue
            it(`tokens at the gateway, ${how}`, async () => {
              const known = await stand.gateway.ended()
              await connect(stand.endpoint).ask({ scene: 'text', streamed, model: target.model })
              const record = await stand.gateway.recordAfter(known, ({ llm }) => llm?.usage.output === USAGE.output)
              const usage = record?.llm?.usage
              assert.deepEqual([usage?.input, usage?.output], [USAGE.input, USAGE.output])
            })
          }
        }
      })
    }
  }
}
