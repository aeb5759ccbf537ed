import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { request } from '../packages/gateway/src/testing/client.ts'
import type { AnswerUsage } from '../packages/gateway/src/testing/providers/answer.ts'
import { CACHE_WRITE_USAGE, REASONING_USAGE, USAGE } from '../packages/gateway/src/testing/providers/scenes.ts'
import { upstreamTraits } from '../packages/gateway/src/testing/sdk-clients/traits.ts'
import type { ClientFormatName } from './clients.ts'
import { type Stand, startStand } from './stand.ts'
import { targets } from './targets.ts'

/** The same exchange, streamed and whole, has the same usage: every number that a client reads, and those the gateway counts. */

type Json = Record<string, unknown>

interface ClientFormat {
  path: string
  body: (prompt: string) => Json
  streamed: Json
  reasons: Json
  /** The usage from all records of a stream. */
  usageOf: (records: Json[]) => Json
}

const formats: Record<ClientFormatName, ClientFormat> = {
  completions: {
    path: '/v1/chat/completions',
    body: (content) => ({ messages: [{ role: 'user', content }] }),
    streamed: { stream: true, stream_options: { include_usage: true } },
    reasons: { reasoning_effort: 'low' },
    usageOf: (records) =>
      objectAt(
        records.findLast((record) => record.usage != null),
        'usage',
      ),
  },
  messages: {
    path: '/v1/messages',
    body: (content) => ({ max_tokens: 4000, messages: [{ role: 'user', content }] }),
    streamed: { stream: true },
    reasons: { thinking: { type: 'enabled', budget_tokens: 1024 } },
    // Each number is the total so far, as the vendor's library reads them.
    usageOf: (records) => ({
      ...objectAt(
        objectAt(
          records.find(({ type }) => type === 'message_start'),
          'message',
        ),
        'usage',
      ),
      ...objectAt(
        records.findLast(({ type }) => type === 'message_delta'),
        'usage',
      ),
    }),
  },
  responses: {
    path: '/v1/responses',
    body: (input) => ({ input, store: false }),
    streamed: { stream: true },
    reasons: { reasoning: { effort: 'low' } },
    usageOf: (records) => objectAt(objectAt(records.at(-1), 'response'), 'usage'),
  },
}

const scenes: [string, AnswerUsage][] = [
  ['text', USAGE],
  ['cache', CACHE_WRITE_USAGE],
  ['reasoning', REASONING_USAGE],
]

for (const target of targets) {
  describe(target.name, () => {
    let stand: Stand
    before(async () => {
      stand = await startStand(target)
    })
    after(() => stand.close())

    for (const [name, format] of Object.entries(formats) as [ClientFormatName, ClientFormat][]) {
      const ask = async (scene: string, extra: Json): Promise<string> => {
        const reasons = scene === 'reasoning'
        const model = (reasons && target.reasoningModel) || target.model
        const body = { model, ...format.body(`Please play scene: ${scene}`), ...(reasons && format.reasons), ...extra }
        const headers = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
        const sent = { method: 'POST', path: format.path, headers, body: JSON.stringify(body) }
        const known = await stand.gateway.ended()
        const reply = await request(stand.gateway.port(), sent)
        assert.equal(reply.status, 200, reply.body)
        await stand.gateway.finished(known + 1)
        return reply.body
      }

      for (const [scene, usage] of scenes) {
        it(`${scene} in ${name}`, async () => {
          const whole = objectAt(JSON.parse(await ask(scene, {})) as Json, 'usage')
          const counted = stand.gateway.records.at(-1)?.llm?.usage
          assert.deepEqual(format.usageOf(recordsOf(await ask(scene, format.streamed))), whole)
          assert.deepEqual(stand.gateway.records.at(-1)?.llm?.usage, counted)
          const { counts } = upstreamTraits[target.upstream[name]]
          const { input, output, cacheRead, cacheWrite, reasoning } = { ...NOTHING, ...counted }
          assert.deepEqual(
            { input, output, cacheRead, cacheWrite, reasoning },
            {
              input: usage.input,
              output: usage.output,
              cacheRead: usage.cacheRead,
              cacheWrite: counts.cacheWrite ? usage.cacheWrite : 0,
              reasoning: counts.reasoning ? usage.reasoning : 0,
            },
          )
        })
      }
    }
  })
}

const NOTHING = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

function recordsOf(stream: string): Json[] {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Json)
}

function objectAt(value: Json | undefined, name: string): Json {
  const member = value?.[name]
  assert.ok(typeof member === 'object' && member !== null, `no ${name} in ${JSON.stringify(value)}`)
  return { ...member }
}
