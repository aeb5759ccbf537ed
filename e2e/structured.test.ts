import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { PERSON_SCHEMA } from '../packages/gateway/src/testing/providers/scenes.ts'
import { clients } from './clients.ts'
import { type Stand, startStand } from './stand.ts'
import { targets } from './targets.ts'

/** Models that refuse schemas are asked for them in words: a schema is never left out unsaid. */

const unstructured: [string, string][] = [
  ['anthropic', 'claude-opus-4-1'],
  ['vertexai Claude', 'claude-sonnet-4-5'],
  ['bedrock', 'amazon.nova-pro-v1:0'],
]

for (const [name, model] of unstructured) {
  describe(`${name}, ${model}`, () => {
    let stand: Stand
    before(async () => {
      stand = await startStand(targets.find((target) => target.name === name)!)
    })
    after(async () => {
      await stand.close()
      assert.deepEqual(stand.gateway.bugs, [])
    })

    for (const client of clients) {
      for (const streamed of [false, true]) {
        it(`${client.name}, ${streamed ? 'streamed' : 'whole'}`, async () => {
          const sdk = client.connect(stand.endpoint)
          const heard = await sdk.ask({ scene: 'structured', model, streamed, schema: PERSON_SCHEMA })
          assert.deepEqual(JSON.parse(heard.text), { name: 'Ada', age: 36 })
        })
      }
    }
  })
}
