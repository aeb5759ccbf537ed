import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { CACHE_WRITE_USAGE } from '../packages/gateway/src/testing/providers/scenes.ts'
import { features, type Stage } from '../packages/gateway/src/testing/sdk-clients/checks.ts'
import { type UpstreamTraits, upstreamTraits } from '../packages/gateway/src/testing/sdk-clients/traits.ts'
import { type Client, clients } from './clients.ts'
import type { Ledger } from './ledger.ts'
import type { ShippedRecord } from './shipped-gateway.ts'
import { type Stand, startStand } from './stand.ts'
import { type Target, targets } from './targets.ts'

/** Every client library to every provider: one scene, one outcome, whatever lies between. */
export function chatCells(ledger: Ledger): void {
  for (const target of targets) {
    describe(target.name, () => {
      let stand: Stand
      before(async () => {
        stand = await startStand(target)
      })
      after(async () => {
        await stand.close()
        assert.deepEqual(stand.gateway.bugs, [])
      })
      for (const client of clients) {
        describe(client.name, () => {
          for (const streamed of [false, true]) {
            cells({ ledger, target, client, streamed, stand: () => stand })
          }
        })
      }
    })
  }
}

interface Cell {
  ledger: Ledger
  target: Target
  client: Client
  streamed: boolean
  stand: () => Stand
}

function cells({ ledger, target, client, streamed, stand }: Cell): void {
  const how = streamed ? 'streamed' : 'whole'
  const upstream = upstreamTraits[target.upstream[client.format]]
  const stage = (): Stage => {
    const sdk = client.connect(stand().endpoint)
    return {
      client: client.traits,
      upstream,
      streamed,
      takesTemperature: target.takesTemperature ?? true,
      ask: (question) =>
        sdk.ask({ ...question, streamed, model: (question.reasons && target.reasoningModel) || target.model }),
    }
  }
  for (const feature of features) {
    it(`${feature.name}, ${how}`, () => ledger.note(client.name, target.name, () => feature.check(stage())))
  }
  it(`tokens at the gateway, ${how}`, () =>
    ledger.note(client.name, target.name, () => expectCounted(stand(), stage(), upstream)))
}

/** The gateway counts the same tokens, streamed or not, whoever asks. */
async function expectCounted({ gateway }: Stand, stage: Stage, { counts }: UpstreamTraits): Promise<void> {
  const known = await gateway.ended()
  await stage.ask({ scene: 'cache' })
  const { input, output, cacheRead, cacheWrite } = CACHE_WRITE_USAGE
  const expected = { input, output, cacheRead, cacheWrite: counts.cacheWrite ? cacheWrite : 0 }
  const counted = ({ llm }: ShippedRecord): object => {
    const usage = llm?.usage
    return {
      input: usage?.input,
      output: usage?.output,
      cacheRead: usage?.cacheRead,
      cacheWrite: usage?.cacheWrite ?? 0,
    }
  }
  const record = await gateway.recordAfter(known, (each) => isDeepStrictEqual(counted(each), expected))
  assert.ok(record !== undefined)
  assert.deepEqual(counted(record), expected)
  assert.equal(record.llm?.isEstimated, false)
}
