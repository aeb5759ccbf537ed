import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { KeepAliveClient } from '../../../testing/keep-alive-client.ts'
import { eventually, type Program, useConfigFile, useProgram } from '../../../testing/process.ts'
import { until, useOrigin } from '../../../testing/scene.ts'

/** A limit of 1,000 tokens a minute, 50 clients at once, two workers. */

const CLIENTS = 50
const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] })

describe('a limit of 1,000 tokens a minute over two workers', () => {
  test('requests in flight succeed when the limit is crossed, and nothing is forwarded afterwards', async (t) => {
    const { origin, program, waiting, clients } = await setUp(t, { tokens: 20, held: CLIENTS })
    const first = clients.map((client) => client.post(PATH, chat))
    await until(() => waiting.length === CLIENTS)
    // All but one: 980 tokens.
    for (const answer of waiting.splice(1)) answer()
    await recorded(program, 980)
    const [late, ...others] = useClients(t, program.port())
    const crossing = await late!.post(PATH, chat)
    assert.equal(crossing.status, 200)
    assert.equal(crossing.headers['x-ratelimit-remaining'], '20')
    await recorded(program, 1000)
    // One of the first is still on its way, and the limit is used up.
    for (let round = 0; round < 4; round++) {
      const refused = await Promise.all([late!, ...others].map((client) => client.post(PATH, chat)))
      for (const { status, body } of refused) assert.deepEqual([status, body], [429, 'rate limit exceeded'])
    }
    assert.equal(origin.seen.length, CLIENTS + 1)
    waiting[0]!()
    for (const { status } of await Promise.all(first)) assert.equal(status, 200)
    await recorded(program, 1020)
    assert.equal((await late!.post(PATH, chat)).status, 429)
    assert.equal(origin.seen.length, CLIENTS + 1)
  })

  test('clients that never rest get no more than what was in flight when it was crossed', async (t) => {
    const { origin, clients } = await setUp(t, { tokens: 10, held: 0 })
    let isUsedUp = false
    let passed = 0
    let refused = 0
    const load = clients.map(async (client) => {
      for (let after = 0; after < 10;) {
        const sentAfterwards = isUsedUp
        const { status } = await client.post(PATH, chat)
        if (status === 200) {
          // Whoever was refused was refused by usage that everybody asks for later.
          assert.ok(!sentAfterwards, 'forwarded although another request had been refused before')
          passed++
        } else {
          assert.equal(status, 429)
          isUsedUp = true
          refused++
          after++
        }
      }
    })
    await Promise.all(load)
    t.diagnostic(`${passed} passed, ${refused} refused`)
    // 99 answers leave ten tokens; each client can have one more request under way.
    assert.ok(passed >= 100 && passed <= 99 + CLIENTS, String(passed))
    assert.equal(origin.seen.length, passed)
    assert.equal(refused, 10 * CLIENTS)
  })
})

const PATH = '/v1/chat/completions'

/** A model that reports so many tokens for each answer, and keeps the first `held` of them until it is told. */
async function setUp(t: TestContext, { tokens, held }: { tokens: number; held: number }) {
  const waiting: (() => void)[] = []
  const answer = JSON.stringify({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: tokens - 1, completion_tokens: 1, total_tokens: tokens },
  })
  let asked = 0
  const origin = await useOrigin(t, (_seen, response) => {
    const send = () => {
      response.setHeader('content-type', 'application/json')
      response.setHeader('content-length', answer.length)
      response.end(answer)
    }
    if (asked++ < held) waiting.push(send)
    else send()
  })
  const config = useConfigFile(t, {
    config: { workers: 2, logging: { level: 'info,request=off' } },
    binds: [
      {
        port: 0,
        address: '127.0.0.1',
        listeners: [
          {
            routes: [
              {
                policies: { rateLimit: { local: [{ tokens: 1000, unit: 'Minutes' }] } },
                backends: [{ ai: { provider: { openai: {}, host: '127.0.0.1', port: origin.port } } }],
              },
            ],
          },
        ],
      },
    ],
  })
  const program = await useProgram(t, { args: ['-f', config.file] })
  return { origin, program, waiting, clients: useClients(t, program.port()) }
}

function useClients(t: TestContext, port: number): KeepAliveClient[] {
  const clients = Array.from({ length: CLIENTS }, () => new KeepAliveClient(port))
  t.after(() => {
    for (const client of clients) client.close()
  })
  return clients
}

/** Requests are counted in metrics once their limits are charged. */
async function recorded(program: Program, tokens: number): Promise<void> {
  await eventually(`${tokens} tokens`, async () => (await usedTokens(program)) === tokens)
}

async function usedTokens({ stats }: Program): Promise<number> {
  const text = await (await fetch(`${stats}/metrics`)).text()
  return [...text.matchAll(/^portico_gen_ai_client_token_usage_sum\{.*\} (\d+)$/gm)].reduce(
    (sum, [, value]) => sum + Number(value),
    0,
  )
}
