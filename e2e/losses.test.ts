import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { request } from '../packages/gateway/src/testing/client.ts'
import { useConfigFile, useProgram } from '../packages/gateway/src/testing/process.ts'
import { startFakeProvider } from '../packages/gateway/src/testing/providers/server.ts'
import { useTrace } from '../packages/gateway/src/testing/admin/trace-client.ts'
import type { ClientFormatName } from './clients.ts'
import { type Target, targets } from './targets.ts'

/** Losses of a translation, as `/debug/trace` of the program reports them. */

const text = 'Please play scene: text'

interface Pair {
  client: ClientFormatName
  target: string
  path: string
  body: object
  /** `what path`, sorted. */
  losses: string[]
}

const pairs: Pair[] = [
  {
    client: 'completions',
    target: 'anthropic',
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: text }], temperature: 1.5, seed: 7, logit_bias: { 50256: -100 } },
    losses: ['defaulted max_tokens', 'dropped logit_bias', 'dropped seed', 'renamed temperature'],
  },
  {
    client: 'responses',
    target: 'bedrock by API key',
    path: '/v1/responses',
    body: { input: text, temperature: 1.5, truncation: 'auto', max_tool_calls: 3 },
    losses: ['defaulted max_output_tokens', 'dropped max_tool_calls', 'dropped truncation', 'renamed temperature'],
  },
]

describe('losses in the trace', { timeout: 120_000 }, () => {
  for (const { client, target: name, path, body, losses } of pairs) {
    const target = targets.find((each) => each.name === name)!

    for (const stream of [false, true]) {
      it(`from ${client} to ${name}, ${stream ? 'streamed' : 'whole'}`, async (t) => {
        const program = await useProvider(t, target)
        const trace = await useTrace(t, program.admin)
        const asked = JSON.stringify({ model: target.model, stream, ...body })
        const headers = { 'content-type': 'application/json' }
        const answer = await request(program.port(), { method: 'POST', path, headers, body: asked })
        assert.equal(answer.status, 200, answer.body)
        const message = (await trace.events).find((event) => event.message.type === 'llmRequest')?.message
        assert.ok(message !== undefined)
        const { clientFormat, upstreamFormat, passedThrough, streaming } = message
        assert.deepEqual(
          { clientFormat, upstreamFormat, passedThrough, streaming },
          { clientFormat: client, upstreamFormat: target.upstream[client], passedThrough: false, streaming: stream },
        )
        const listed = message['losses'] as { what: string; path: string }[]
        assert.deepEqual(listed.map((loss) => `${loss.what} ${loss.path}`).toSorted(), losses)
      })
    }
  }
})

async function useProvider(t: TestContext, target: Target) {
  const fake = await startFakeProvider(target.vendor())
  t.after(() => fake.close())
  const provider = { ...target.provider, host: '127.0.0.1', port: fake.port }
  const backends = [{ ai: { provider }, policies: { auth: target.auth } }]
  const { file } = useConfigFile(t, {
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes: [{ backends }] }] }],
  })
  return useProgram(t, { args: ['-f', file], env: { WORKER_THREADS: '1' } })
}
