import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Fault } from '../packages/gateway/src/testing/providers/fault.ts'
import { ANSWERS, USAGE } from '../packages/gateway/src/testing/providers/scenes.ts'
import { clients } from './clients.ts'
import { type Stand, startStand } from './stand.ts'
import { targets } from './targets.ts'

/** Streams that come in pieces, slowly, or not to their end: a client is never told that half an answer was a whole one. */

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
      const ask = async (fault: Fault, streamed = true): Promise<string> => {
        stand.fake.fault = fault
        const heard = await client.connect(stand.endpoint).ask({ scene: 'text', model: target.model, streamed })
        return heard.text
      }

      for (const pieceBytes of [1, 7]) {
        it(`${client.name}: pieces of ${pieceBytes} bytes`, async () => {
          assert.equal(await ask({ pieceBytes }), ANSWERS.text.join(''))
        })
      }

      it(`${client.name}: a slow provider`, async () => {
        assert.equal(await ask({ latencyMs: 5, firstByteMs: 5, frameMs: 1 }), ANSWERS.text.join(''))
      })

      for (const how of ['reset', 'close', 'end', 'garbage'] as const) {
        it(`${client.name}: a stream that breaks (${how})`, async () => {
          const known = await stand.gateway.ended()
          await assert.rejects(ask({ break: { afterFrames: -3, how } }))
          await stand.gateway.finished(known + 1)
          const facts = stand.gateway.records.at(-1)?.llm
          assert.ok(facts?.isEstimated, 'its tokens are estimated')
          assert.ok((facts.usage.output ?? 0) < USAGE.output)
        })
      }

      it(`${client.name}: a stream that ends before it has begun`, async () => {
        await assert.rejects(
          ask({ break: { afterFrames: 0, how: 'end' } }),
          (error: unknown) => statusOf(error) === 502,
        )
      })

      it(`${client.name}: a whole answer that breaks`, async () => {
        await assert.rejects(ask({ break: { afterFrames: 0, how: 'reset' } }, false))
      })
    }
  })
}

/** As the libraries say it: some at the error, some at what caused it. */
function statusOf(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return undefined
  if ('status' in error) return error.status
  if ('statusCode' in error) return error.statusCode
  return 'cause' in error ? statusOf(error.cause) : undefined
}
